/**
 * `npm run broken [ID...]`: breaks the source on purpose, in a copy, in each way that a file of
 * `test/broken` gives for these invariants (all: without a name), and runs the tests that have to
 * notice. Fails where they pass all the same, or do not pass without the fault.
 * `--sample COUNT [--seed SEED]` takes some of them.
 */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './built.mjs'

/** Time for one run of tests: a fault may make code run for ever. */
const RUN_MS_MAX = 180_000
/** Time for one test in it. */
const TEST_MS_MAX = 60_000

const { values: given, positionals: ids } = givenOptions()
const all = readFaults()
const unknown = ids.filter((id) => !all.some((fault) => fault.id === id))
if (unknown.length > 0) endWith(`no fault for ${unknown.join(', ')}`)
const chosen = sampled(ids.length === 0 ? all : all.filter(({ id }) => ids.includes(id)))

const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'tallystick-broken-')))
const copy = join(temporary, 'tree')
const compiled = join(temporary, 'compiled')
let running
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))
process.on('exit', () => {
  stop(running)
  rmSync(temporary, { recursive: true, force: true })
})
makeCopy()
const failing = new Set(
  (await run(chosen)).filter(({ status }) => status !== 'passed').map(({ fault }) => fault)
)
let missed = 0
for (const fault of chosen) {
  const began = performance.now()
  const verdict = await verdictOn(fault)
  if (verdict !== 'noticed') missed += 1
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`${fault.id.padEnd(4)} ${verdict.padEnd(8)} ${seconds.padStart(5)} s  ${fault.fault}`)
}
console.log(`${chosen.length - missed} of ${chosen.length} faults are noticed`)
process.exitCode = missed === 0 ? 0 : 1

function givenOptions() {
  const options = { sample: { type: 'string' }, seed: { type: 'string' } }
  try {
    const parsed = parseArgs({ allowPositionals: true, options })
    const wrong = Object.values(parsed.values).find((value) => !/^[0-9]{1,9}$/.test(value))
    return wrong === undefined ? parsed : endWith(`${wrong} is no number`)
  } catch (error) {
    return endWith(error.message)
  }
}

function endWith(problem) {
  console.error(`${problem}\nusage: node scripts/broken.mjs [ID...] [--sample COUNT [--seed SEED]]`)
  process.exit(2)
}

/** Every fault with the number of what it breaks, in the order of the files. */
function readFaults() {
  const folder = join(root, 'test', 'broken')
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return files.sort().flatMap((name) => {
    const faults = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    return Object.entries(faults).flatMap(([id, list]) => list.map((one) => ({ id, ...one })))
  })
}

/** So many of them, chosen by a seed that is printed. */
function sampled(faults) {
  if (given.sample === undefined) return faults
  const seed = Number(given.seed ?? randomInt(2 ** 31))
  console.log(`sample of ${given.sample}, seed ${seed}`)
  // The generator of Park and Miller: what is chosen is the same everywhere.
  let state = (seed % 2_147_483_646) + 1
  const next = () => {
    state = (state * 48_271) % 2_147_483_647
    return state
  }
  const ranked = faults.map((fault) => ({ fault, rank: next() }))
  ranked.sort((one, other) => one.rank - other.rank)
  return ranked.slice(0, Number(given.sample)).map(({ fault }) => fault)
}

/** The tree as it is on disk, without what is installed and built: that is linked. */
function makeCopy() {
  const left = new Set(['.git', 'node_modules', 'dist', 'coverage'])
  for (const name of readdirSync(root)) {
    if (!left.has(name)) cpSync(join(root, name), join(copy, name), { recursive: true })
  }
  for (const name of ['node_modules', 'dist']) {
    if (existsSync(join(root, name))) symlinkSync(join(root, name), join(copy, name), 'dir')
  }
}

/** What the tests of a fault say with it. */
async function verdictOn(fault) {
  const path = join(copy, fault.file)
  const source = readFileSync(path, 'utf8')
  const parts = source.split(fault.text)
  if (parts.length !== 2) return 'no place'
  if (failing.has(fault)) return 'fails'
  writeFileSync(path, parts.join(fault.by))
  try {
    const [{ status }] = await run([fault])
    return status === 'failed' ? 'noticed' : status === 'passed' ? 'missed' : status
  } finally {
    writeFileSync(path, source)
  }
}

/** Runs the tests of some faults in the copy as it is now; says how each of them ended. */
async function run(faults) {
  const report = join(copy, 'report.json')
  rmSync(report, { force: true })
  const files = [...new Set(faults.map(({ test }) => test))]
  const titles = [...new Set(faults.map(({ title }) => patternOf(title)))]
  const words = [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    ...['run', ...files, '-t', titles.join('|'), '--maxWorkers=1'],
    ...['--reporter=json', `--outputFile.json=${report}`],
    // All but the file with the fault is compiled for the first run, and read by the others.
    ...['--experimental.fsModuleCache', `--experimental.fsModuleCachePath=${compiled}`],
    // One test that fails is enough, and may have taken all of its time.
    ...(faults.length === 1 ? ['--bail=1'] : []),
    ...[`--testTimeout=${TEST_MS_MAX}`, `--hookTimeout=${TEST_MS_MAX}`]
  ]
  const env = { ...process.env, NO_COLOR: '1' }
  // A group of its own, so that workers which run for ever end with it.
  running = spawn(process.execPath, words, { cwd: copy, stdio: 'ignore', detached: true, env })
  const late = setTimeout(stop, RUN_MS_MAX * files.length, running)
  const [, signal] = await once(running, 'exit')
  clearTimeout(late)
  const results = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')).testResults : []
  return faults.map((fault) => ({
    fault,
    status: signal === null ? statusOf(fault, results) : 'no end'
  }))
}

function stop(child) {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  process.kill(-child.pid, 'SIGKILL')
}

function statusOf({ test, title }, results) {
  const pattern = new RegExp(patternOf(title))
  const tests = results
    .filter(({ name }) => name === join(copy, test))
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ fullName }) => pattern.test(fullName))
  if (tests.some(({ status }) => status === 'failed')) return 'failed'
  return tests.some(({ status }) => status === 'passed') ? 'passed' : 'no test'
}

/** A title as docs/guarantees.md has it, with `%s` and `$name` for what each case puts there. */
function patternOf(title) {
  const parts = title.split(/%[a-z]|\$\w+/)
  return parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')
}
