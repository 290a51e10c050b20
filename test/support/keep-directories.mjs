/** Preloaded into an example, so that the ledger it makes is there when the example has ended. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

fs.promises.rm = async () => undefined
syncBuiltinESMExports()
