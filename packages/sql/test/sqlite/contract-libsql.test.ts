import { sqliteContract } from './contract.js'

sqliteContract('libsql')
