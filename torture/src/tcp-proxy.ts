/** A TCP proxy between a process and its backend, for what a network does: it cuts, refuses, holds back, or loses only the answers. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

export type Traffic =
  /** Everything passes. */
  | 'open'
  /** Connections stay, nothing passes: what is sent arrives when the traffic is open again. */
  | 'held'
  /** Requests arrive and take effect; the answers are held back. */
  | 'answers-held'
  /** Connections are reset, new ones refused by a reset. */
  | 'cut'

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

export class TcpProxy {
  private readonly pairs = new Set<Pair>()
  private state: Traffic = 'open'

  private constructor(
    private readonly listener: Server,
    private readonly target: { readonly host: string; readonly port: number },
  ) {
    listener.on('connection', (client) => this.accept(client))
  }

  /** Listens on a free port of the loopback address. */
  static async to(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
    const listener = createServer({ pauseOnConnect: true, allowHalfOpen: true })
    const proxy = new TcpProxy(listener, target)
    listener.listen(0, '127.0.0.1')
    await once(listener, 'listening')
    return proxy
  }

  get port(): number {
    return portOf(this.listener)
  }

  get traffic(): Traffic {
    return this.state
  }

  set traffic(traffic: Traffic) {
    this.state = traffic
    for (const pair of this.pairs) this.apply(pair)
  }

  async close(): Promise<void> {
    this.traffic = 'cut'
    this.listener.close()
    await once(this.listener, 'close')
  }

  private accept(client: Socket): void {
    const server = connect({ ...this.target, allowHalfOpen: true })
    const pair = { client, server }
    this.pairs.add(pair)
    client.setNoDelay(true)
    server.setNoDelay(true)
    forward(client, server)
    forward(server, client)
    for (const socket of [client, server]) {
      // An error is followed by the close.
      socket.on('error', () => {})
      socket.on('close', () => this.drop(pair))
    }
    this.apply(pair)
  }

  private apply(pair: Pair): void {
    const { client, server } = pair
    switch (this.state) {
      case 'open':
        client.resume()
        server.resume()
        return
      case 'held':
        client.pause()
        server.pause()
        return
      case 'answers-held':
        client.resume()
        server.pause()
        return
      case 'cut':
        this.drop(pair)
        return
      default:
        this.state satisfies never
    }
  }

  private drop(pair: Pair): void {
    if (!this.pairs.delete(pair)) return
    pair.client.resetAndDestroy()
    pair.server.resetAndDestroy()
  }
}

/** The port that a server listens on. */
export function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string')
    throw new Error('The server does not listen on a port.')
  return address.port
}

/** By hand, since a pipe resumes by itself what was paused: back-pressure pauses only while the traffic would flow anyway. */
function forward(from: Socket, to: Socket): void {
  from.on('data', (chunk) => to.write(chunk))
  from.on('end', () => to.end())
}
