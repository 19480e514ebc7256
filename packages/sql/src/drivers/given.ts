/** Says what somebody gave instead of a pool, so that they recognise it. */

const hints: readonly { readonly has: readonly string[]; readonly what: string }[] = [
  { has: ['processID', 'query', 'connect'], what: 'a single client of pg, which is one connection only' },
  { has: ['threadId', 'query'], what: 'a single connection, not a pool' },
  { has: ['totalCount', 'idleCount', 'connect'], what: 'a pool of pg' },
  { has: ['getConnection', 'activeConnections'], what: 'a pool of mariadb' },
  { has: ['getConnection', 'query'], what: 'a pool of mysql2' },
  { has: ['unsafe', 'reserve'], what: 'a pool of postgres' },
  { has: ['$client'], what: 'a Drizzle database; its pool is `db.$client`' },
  {
    has: ['getExecutor', 'selectFrom'],
    what: 'a Kysely instance; give the pool that its dialect was made with',
  },
  { has: ['$queryRaw'], what: 'a Prisma client; give the pool that its driver adapter was made with' },
  {
    has: ['createQueryRunner', 'driver'],
    what: 'a TypeORM data source; its pool is `dataSource.driver.master`',
  },
  { has: ['raw', 'client', 'schema'], what: 'a Knex instance; give a pool of its driver' },
]

export function describeGiven(given: unknown): string {
  if (given === null) return 'null'
  if (typeof given !== 'object' && typeof given !== 'function') return `${typeof given} ${String(given)}`
  const known = hints.find(({ has }) => has.every((member) => member in given))
  if (known !== undefined) return known.what
  if (typeof given === 'function') return `a function${given.name === '' ? '' : ` ${given.name}`}`
  const name: unknown = given.constructor?.name
  return typeof name === 'string' && name !== 'Object' ? `an object of ${name}` : 'an object that is no pool'
}
