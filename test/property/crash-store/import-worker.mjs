/**
 * A process that imports a snapshot and kills itself before its nth change of names on disk, or a
 * few milliseconds behind it. Plain JavaScript over the built package. Prints `done <changes>`.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [module, location, file, step, delayMs] = process.argv.slice(2)
const kill = () => process.kill(process.pid, 'SIGKILL')
let changes = 0
for (const name of ['mkdir', 'open', 'rename', 'link', 'rm']) {
  const original = fs.promises[name]
  fs.promises[name] = (...given) => {
    changes += 1
    if (changes === Number(step)) {
      if (delayMs === '0') kill()
      else setTimeout(kill, Number(delayMs))
    }
    return original(...given)
  }
}
syncBuiltinESMExports()
const { importSnapshot } = await import(module)
await importSnapshot(location, { file })
fs.writeSync(1, `done ${changes}\n`)
