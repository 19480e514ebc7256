/** The proxy between a process and its backend: what passes, what waits, and what is lost. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { portOf, TcpProxy } from '../src/tcp-proxy.js'

let server: Server
let proxy: TcpProxy
/** What the server has heard, over all connections. */
let heard = ''
const open = new Set<Socket>()

beforeEach(async () => {
  heard = ''
  server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      heard += chunk
      socket.write(`<${chunk}>`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  proxy = await TcpProxy.to({ host: '127.0.0.1', port: portOf(server) })
})

afterEach(async () => {
  await proxy.close()
  for (const socket of open) socket.destroy()
  server.close()
})

interface Client {
  readonly socket: Socket
  answers: string
  /** The error that ended the connection. */
  ended: string | undefined
}

async function client(): Promise<Client> {
  const socket = connect(proxy.port, '127.0.0.1')
  const own: Client = { socket, answers: '', ended: undefined }
  open.add(socket)
  socket.on('data', (chunk) => {
    own.answers += chunk
  })
  socket.on('error', (error) => {
    own.ended = 'code' in error ? String(error.code) : error.message
  })
  await once(socket, 'connect')
  return own
}

async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + 5_000
  while (!condition()) {
    if (performance.now() > end) throw new Error('It did not come about within 5 s.')
    await turn()
  }
}

/** Turns enough of the event loop for what is to pass to have passed, many times over. */
async function passed(): Promise<void> {
  for (let round = 0; round < 200; round++) await turn()
}

test('an open proxy passes both ways, and ends what is ended', async () => {
  const own = await client()
  own.socket.write('one')
  await until(() => own.answers === '<one>')
  own.socket.end()
  await until(() => [...open].some((socket) => socket.readableEnded))
})

test('held traffic arrives when it is open again, in order', async () => {
  const own = await client()
  own.socket.write('one')
  await until(() => own.answers === '<one>')
  proxy.traffic = 'held'
  own.socket.write('two')
  await passed()
  expect(heard).toBe('one')
  proxy.traffic = 'open'
  await until(() => own.answers === '<one><two>')
})

test('a connection that is made while traffic is held is served afterwards', async () => {
  proxy.traffic = 'held'
  const own = await client()
  own.socket.write('late')
  await passed()
  expect(heard).toBe('')
  proxy.traffic = 'open'
  await until(() => own.answers === '<late>')
})

test('with answers held, requests take effect and nobody hears of it', async () => {
  const own = await client()
  proxy.traffic = 'answers-held'
  own.socket.write('one')
  await until(() => heard === 'one')
  await passed()
  expect(own.answers).toBe('')
  proxy.traffic = 'cut'
  await until(() => own.ended !== undefined)
  expect(own.answers).toBe('')
})

test('a cut resets connections, and new ones, until traffic is open again', async () => {
  const own = await client()
  proxy.traffic = 'cut'
  await until(() => own.ended !== undefined)
  expect(own.ended).toBe('ECONNRESET')
  const refused = connect(proxy.port, '127.0.0.1')
  refused.on('error', () => {})
  await until(() => refused.closed)
  proxy.traffic = 'open'
  const again = await client()
  again.socket.write('one')
  await until(() => again.answers === '<one>')
})
