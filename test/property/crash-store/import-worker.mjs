/**
 * A process that imports a snapshot and kills itself before its nth change of names on disk, or a
 * few milliseconds behind it; or before or behind the change of the marker. The ledger is closed,
 * or open with an intent that waits to be committed. Plain JavaScript over the built package.
 * Prints `told <receipt>` for the intent and `done <changes>`.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [module, location, file, step, delayMs, isOpen] = process.argv.slice(2)
const kill = () => process.kill(process.pid, 'SIGKILL')
let changes = 0
for (const name of ['mkdir', 'open', 'rename', 'link', 'rm']) {
  const original = fs.promises[name]
  fs.promises[name] = async (...given) => {
    changes += 1
    const isMarker = name === 'rename' && String(given[1]).endsWith('marker.json')
    if (changes === Number(step)) {
      if (delayMs === '0') kill()
      else setTimeout(kill, Number(delayMs))
    }
    if (isMarker && step === 'before marker') kill()
    const done = await original(...given)
    if (isMarker && step === 'behind marker') kill()
    return done
  }
}
syncBuiltinESMExports()

async function importIntoOpen({ createRuntime }) {
  const tally = await createRuntime({ location, serve: false })
  const payload = { publicKey: 'a'.repeat(64), isApprover: true }
  const { begin } = tally.ledger.restoring
  tally.ledger.restoring.begin = () => {
    tally.intent({ id: 'held', action: 'system.approver', payload }).then(
      ({ receipt }) => fs.writeSync(1, `told ${receipt}\n`),
      () => undefined
    )
    return begin.call(tally.ledger.restoring)
  }
  changes = 0
  const reply = await tally.intent({ action: 'system.import', payload: { file } })
  if (reply.restored !== true) throw new Error(JSON.stringify(reply))
  await tally.close()
}

const loaded = await import(module)
await (isOpen === 'open' ? importIntoOpen(loaded) : loaded.importSnapshot(location, { file }))
fs.writeSync(1, `done ${changes}\n`)
