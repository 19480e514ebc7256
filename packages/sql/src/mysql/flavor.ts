/** What differs between MySQL and MariaDB. */
export interface Flavor {
  readonly name: 'mysql' | 'mariadb'
  /** Ends a query that locks what it reads against changes, and waits for those under way. */
  readonly share: string
}

export const mysql: Flavor = { name: 'mysql', share: 'for share' }
export const mariadb: Flavor = { name: 'mariadb', share: 'lock in share mode' }
