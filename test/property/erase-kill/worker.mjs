/**
 * A process that erases a subject and kills itself at its nth change on disk: before or behind a
 * change of names, a batch or a compaction of the store. Plain JavaScript over the built package.
 * Prints `done <changes>`.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { ClassicLevel } from 'classic-level'

const [module, location, subject, step, side] = process.argv.slice(2)
const kill = () => process.kill(process.pid, 'SIGKILL')
let changes = -1
const counted = (original) =>
  async function (...given) {
    if (changes >= 0) changes += 1
    const isIt = changes === Number(step)
    if (isIt && side === 'before') kill()
    const done = await original.apply(this, given)
    if (isIt) kill()
    return done
  }
for (const name of ['open', 'link', 'rm']) fs.promises[name] = counted(fs.promises[name])
syncBuiltinESMExports()
const { batch, compactRange } = ClassicLevel.prototype
ClassicLevel.prototype.batch = function (...given) {
  const begun = batch.apply(this, given)
  begun.write = counted(begun.write)
  return begun
}
ClassicLevel.prototype.compactRange = counted(compactRange)

const { createRuntime } = await import(module)
process.on('uncaughtException', (error) => {
  fs.writeSync(1, `failed ${error.message}\n`)
  process.exit(1)
})
const tally = await createRuntime({ location, serve: false, resume: false })
changes = 0
await tally.erase(subject)
fs.writeSync(1, `done ${changes}\n`)
changes = -1
await tally.close()
