/**
 * A process that rotates the key of a ledger and kills itself before its nth change of names on
 * disk from then on. Prints `ready <receipts>`, and `done <changes> <key>` when it has lived.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [module, location, step] = process.argv.slice(2)
let changes = Number.NEGATIVE_INFINITY
for (const name of ['open', 'link', 'rename', 'rm']) {
  const original = fs.promises[name]
  fs.promises[name] = (...given) => {
    changes += 1
    if (changes === Number(step)) process.kill(process.pid, 'SIGKILL')
    return original(...given)
  }
}
syncBuiltinESMExports()

const { createRuntime } = await import(module)
const tally = await createRuntime({ location, serve: false })
fs.writeSync(1, `ready ${tally.status().receipts}\n`)
changes = 0
const { publicKey } = await tally.intent({ action: 'system.key.rotate' })
fs.writeSync(1, `done ${changes} ${publicKey}\n`)
await tally.close()
