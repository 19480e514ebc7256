import { describe } from 'vitest'
import { sqliteContract } from './contract.js'
import { builtInDrivers } from './databases.js'

describe.skipIf(!('node:sqlite' in builtInDrivers))('on a Node.js that has it', () => {
  sqliteContract('node:sqlite')
})
