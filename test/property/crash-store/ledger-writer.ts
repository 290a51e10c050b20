/**
 * A process that appends units to a real ledger, eight at a time, until it is killed. Prints unit
 * and receipt hash of each acknowledged one, or the error that ended it.
 */
import { writeSync } from 'node:fs'
import { holdStore } from '../../../src/ledger/owner/index.js'
import { realLedger } from '../../simulate/real-ledger.js'

const AT_ONCE = 8

const [, , directory = '', life = ''] = process.argv
try {
  const { store } = await holdStore(directory)
  const ledger = await realLedger()(store)
  for (let group = 0; ; group += 1) {
    const units = Array.from({ length: AT_ONCE }, (_, at) => `unit-${life}-${group * AT_ONCE + at}`)
    await Promise.all(
      units.map(async (unit) => {
        const { hash, durable } = ledger.append(unit)
        await durable
        writeSync(1, `${unit} ${hash}\n`)
      })
    )
  }
} catch (error) {
  writeSync(1, `${String(error)}\n`)
}
