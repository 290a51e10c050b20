/**
 * For a process that does something to a ledger and kills itself at its nth change on disk: before
 * or behind a change of names, a batch or a compaction of the store. Plain JavaScript over the
 * built package; to be imported before it. Prints `done <changes>`, or `failed <why>`.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { ClassicLevel } from 'classic-level'

/**
 * Opens the ledger and does it; `given` are the words of the process: the module of the package,
 * the location, what `act` is given besides the runtime, the number of the change, and its side.
 * `code` says what is registered, `before` what is done first: changes of that are not counted.
 */
export async function diesAtChange([module, location, what, step, side], act, more = {}) {
  const changes = counting(Number(step), side)
  process.on('uncaughtException', (error) => {
    fs.writeSync(1, `failed ${error.message}\n`)
    process.exit(1)
  })
  const library = await import(module)
  const registered = more.code?.(library)
  const tally = await library.createRuntime({
    location,
    serve: false,
    resume: false,
    ...registered
  })
  await more.before?.(tally)
  changes.begin()
  await act(tally, what)
  fs.writeSync(1, `done ${changes.end()}\n`)
  await tally.close()
}

function counting(step, side) {
  const kill = () => process.kill(process.pid, 'SIGKILL')
  let changes = -1
  const counted = (original) =>
    async function (...given) {
      if (changes >= 0) changes += 1
      const isIt = changes === step
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
  return {
    begin: () => {
      changes = 0
    },
    end: () => {
      const made = changes
      changes = -1
      return made
    }
  }
}
