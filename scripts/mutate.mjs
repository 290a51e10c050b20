/**
 * `npm run mutate PART [FILES]`: breaks the sources of a part one place at a time, runs the tests
 * that judge it, and prints how many of the mutants were noticed and which were not. Without a part
 * it lists what there is. `-- --sample COUNT [--seed SEED]` takes some of the mutants. Stryker
 * plants the mutants; it is installed beside the other packages when this first runs. The tests run
 * in one process (`test/mutation/driver.ts`), which is started again where a mutant does not end.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { root } from './built.mjs'

/** After so long without news, a test of a mutant is one that does not end. */
const SILENCE_MS = 30_000
const own = join(root, 'test', 'mutation')
const parts = JSON.parse(readFileSync(join(own, 'parts.json'), 'utf8'))
const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: { sample: { type: 'string' }, seed: { type: 'string', default: '1' } }
})
const [name = '', chosen] = positionals
if (!Object.hasOwn(parts, name)) {
  console.log('npm run mutate PART [FILES] [-- --sample COUNT [--seed SEED]]')
  console.log(Object.keys(parts).join('\n'))
  process.exit(name === '' ? 0 : 2)
}
const tools = join(root, 'node_modules', '.mutation')
install()
const found = join(tools, 'found', name)
mkdirSync(found, { recursive: true })
const [planFile, results] = [join(found, 'plan.json'), join(found, 'results.jsonl')]
const dryRun = join(found, 'dry-run.json')
rmSync(dryRun, { force: true })
const { files, mutants: all } = await planted(chosen?.split(',') ?? filesOf(parts[name].mutate))
const mutants = sampled(all)
const sources = Object.fromEntries(files.map((file) => [file.name, file.content]))
const tests = filesOf(parts[name].tests)
writeFileSync(results, '')
while (!(await judged())) if (left().length === 0) break
print()

function install() {
  const lock = 'package-lock.json'
  const isSame =
    existsSync(join(tools, 'node_modules')) &&
    readFileSync(join(tools, lock), 'utf8') === readFileSync(join(own, lock), 'utf8')
  if (isSame) return
  mkdirSync(tools, { recursive: true })
  for (const file of ['package.json', lock]) cpSync(join(own, file), join(tools, file))
  const options = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', options, { cwd: tools, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

/** A pattern is a file, or the end of names in a folder behind a star; `!` leaves a file out. */
function filesOf(patterns) {
  const named = patterns.flatMap((pattern) => {
    const [, end] = pattern.split('*')
    if (end === undefined) return [pattern]
    const folder = dirname(pattern)
    const names = readdirSync(join(root, folder)).filter((file) => file.endsWith(end))
    return names.sort().map((file) => `${folder}/${file}`)
  })
  return named.filter((file) => !file.startsWith('!') && !patterns.includes(`!${file}`))
}

async function planted(names) {
  const from = createRequire(join(tools, 'package.json'))
  const { href } = pathToFileURL(from.resolve('@stryker-mutator/instrumenter'))
  const { Instrumenter } = await import(href)
  const silent = () => undefined
  const logger = { debug: silent, info: silent, warn: silent, isDebugEnabled: () => false }
  const given = names.map((file) => ({
    name: join(root, file),
    content: readFileSync(join(root, file), 'utf8'),
    mutate: true
  }))
  return new Instrumenter(logger).instrument(given, {
    plugins: [],
    excludedMutations: [],
    ignorers: []
  })
}

/** As many as were asked for, the same for each seed; all of them without a number. */
function sampled(from) {
  const { sample, seed } = given
  if (sample === undefined) return from
  const place = ({ id }) => createHash('sha256').update(`${seed}/${id}`).digest('hex')
  const places = new Map(from.map((mutant) => [mutant, place(mutant)]))
  const drawn = from.toSorted((one, other) => (places.get(one) < places.get(other) ? -1 : 1))
  return from.filter((mutant) => drawn.indexOf(mutant) < Number(sample))
}

function lines() {
  return readFileSync(results, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

/** The last status of each mutant, by its id. */
function statuses() {
  return new Map(
    lines()
      .filter(({ id }) => id !== undefined)
      .map((line) => [line.id, line])
  )
}

function left() {
  const known = statuses()
  return mutants.map(({ id }) => id).filter((id) => (known.get(id)?.status ?? 'begun') === 'begun')
}

/** Whether a process has judged all that was left. */
async function judged() {
  writeFileSync(planFile, JSON.stringify({ sources, tests, mutants: left(), results, dryRun }))
  const bin = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const given = ['run', '--config', join(own, 'vitest.config.ts'), '--reporter=dot']
  const child = spawn(process.execPath, [bin, ...given], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, MUTATE_PLAN: planFile, NO_COLOR: '1' }
  })
  const stop = () => process.kill(-child.pid, 'SIGKILL')
  const stopAll = () => {
    stop()
    process.exit(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stopAll)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  const before = lines().length
  let seen = before
  let since = Date.now()
  const watch = setInterval(() => {
    const count = lines().length
    if (count > seen) [seen, since] = [count, Date.now()]
    // Before the first line it loads and runs all tests as they are.
    else if (seen > before && Date.now() - since > SILENCE_MS) stop()
  }, 1_000)
  await new Promise((resolve) => child.on('close', resolve))
  clearInterval(watch)
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, stopAll)
  const news = lines().slice(before)
  if (news.length === 0) {
    console.error(said)
    process.exit(1)
  }
  if (news.at(-1).isOver === true) return true
  // It was killed, or has used all of its memory; or the next one begins in a fresh process.
  const last = news.at(-1)
  if (last.status === 'begun' && Date.now() - since > SILENCE_MS) {
    writeFileSync(results, `${JSON.stringify({ ...last, status: 'Timeout' })}\n`, { flag: 'a' })
  }
  return false
}

function print() {
  const known = statuses()
  const judgedOnes = mutants.map((mutant) => ({
    ...mutant,
    file: relative(root, mutant.fileName),
    status: known.get(mutant.id)?.status ?? 'Ignored'
  }))
  for (const { file, location, mutatorName, replacement = '', status } of judgedOnes) {
    if (status !== 'Survived' && status !== 'NoCoverage') continue
    const { line, column } = location.start
    console.log(`${file}:${line + 1}:${column + 1} ${status} ${mutatorName}: ${shown(replacement)}`)
  }
  console.log('\n| file | mutants | killed | timed out | missed | not reached | score |')
  console.log('|---|---|---|---|---|---|---|')
  for (const { name: file } of files) {
    const short = relative(root, file)
    row(
      short,
      judgedOnes.filter((mutant) => mutant.file === short)
    )
  }
  row('all', judgedOnes)
}

function row(label, rowOnes) {
  const count = (...kinds) => rowOnes.filter(({ status }) => kinds.includes(status)).length
  const [killed, late] = [count('Killed'), count('Timeout')]
  const missed = count('Survived', 'NoCoverage')
  const whole = killed + late + missed
  const score = whole === 0 ? '-' : ((100 * (killed + late)) / whole).toFixed(1)
  const cells = [label, whole, killed, late, missed, count('NoCoverage'), `${score} %`]
  console.log(`| ${cells.join(' | ')} |`)
}

function shown(text) {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 90 ? `${line.slice(0, 90)}...` : line
}
