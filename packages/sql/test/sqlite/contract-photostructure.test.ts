import { sqliteContract } from './contract.js'

sqliteContract('@photostructure/sqlite')
