/**
 * `npm run fuzz NAME [CASES] [SEED]`: drives the reader NAME with mutants of its corpus until it
 * has done CASES of them (default: hours of them), with a seed that it prints. An input that finds
 * a fault is kept in the corpus. Without a name it lists what there is.
 */
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildIfStale, root } from './built.mjs'

const names = readdirSync(join(root, 'test', 'fuzz', 'corpus')).sort()
const [name, count, seed = String(randomInt(2 ** 31))] = process.argv.slice(2)
if (!names.includes(name)) {
  console.log(`npm run fuzz NAME [CASES] [SEED]\n${names.join('\n')}`)
  process.exit(name === undefined ? 0 : 2)
}
console.log(`fuzz ${name}, seed ${seed}`)
buildIfStale()
const { status } = spawnSync(
  process.execPath,
  [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', 'test/fuzz', '-t', 'mutants'],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      SOAK: '1',
      TALLY_SEED: seed,
      FUZZ_TARGET: name,
      ...(count === undefined ? {} : { FUZZ_CASES: count })
    }
  }
)
process.exitCode = status ?? 1
