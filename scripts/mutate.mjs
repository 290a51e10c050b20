/**
 * `npm run mutate PART [FILES]`: breaks the sources of a part one place at a time, runs the tests
 * that judge it, and prints how many of the mutants were noticed and which were not. Without a part
 * it lists what there is. Installs Stryker beside the other packages when it first runs.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './built.mjs'

const own = join(root, 'test', 'mutation')
const parts = JSON.parse(readFileSync(join(own, 'parts.json'), 'utf8'))
const [name = '', files] = process.argv.slice(2)
if (!Object.hasOwn(parts, name)) {
  console.log(`npm run mutate PART [FILES]\n${Object.keys(parts).join('\n')}`)
  process.exit(name === '' ? 0 : 2)
}
const tools = join(root, 'node_modules', '.mutation')
install()
const status = run(
  process.execPath,
  [
    join(tools, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js'),
    'run',
    'test/mutation/stryker.config.mjs'
  ],
  root,
  {
    MUTATE_PART: name,
    MUTATE_TOOLS: tools,
    ...(files === undefined ? {} : { MUTATE_FILES: files })
  }
)
if (status === 0) print(JSON.parse(readFileSync(join(tools, 'found', name, 'report.json'), 'utf8')))
process.exitCode = status

function install() {
  const lock = 'package-lock.json'
  const isSame =
    existsSync(join(tools, 'node_modules')) &&
    readFileSync(join(tools, lock), 'utf8') === readFileSync(join(own, lock), 'utf8')
  if (isSame) return
  mkdirSync(tools, { recursive: true })
  for (const file of ['package.json', lock]) cpSync(join(own, file), join(tools, file))
  // The runner's peer is the Vitest of this repository, which Node finds one folder up.
  const options = ['--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund']
  const failed = run('npm', ['ci', ...options], tools)
  if (failed !== 0) process.exit(failed)
}

function run(command, given, cwd, environment = {}) {
  const options = { cwd, stdio: 'inherit', env: { ...process.env, ...environment } }
  return spawnSync(command, given, options).status ?? 1
}

function print({ files: judged }) {
  const all = Object.entries(judged).flatMap(([file, { mutants }]) =>
    mutants.map((mutant) => ({ file, ...mutant }))
  )
  const tell = (label, mutants) => {
    const count = (...kinds) => mutants.filter(({ status: kind }) => kinds.includes(kind)).length
    const [killed, late] = [count('Killed'), count('Timeout')]
    const missed = count('Survived', 'NoCoverage')
    const whole = killed + late + missed
    const score = whole === 0 ? '-' : ((100 * (killed + late)) / whole).toFixed(1)
    const row = [label, whole, killed, late, missed, count('NoCoverage'), `${score} %`]
    console.log(`| ${row.join(' | ')} |`)
  }
  for (const { file, location, mutatorName, replacement = '', status: kind } of all) {
    if (kind !== 'Survived' && kind !== 'NoCoverage') continue
    const { line, column } = location.start
    console.log(`${file}:${line}:${column} ${kind} ${mutatorName}: ${shown(replacement)}`)
  }
  console.log('\n| file | mutants | killed | timed out | missed | not reached | score |')
  console.log('|---|---|---|---|---|---|---|')
  for (const file of Object.keys(judged))
    tell(
      file,
      all.filter((mutant) => mutant.file === file)
    )
  tell('all', all)
}

function shown(text) {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 90 ? `${line.slice(0, 90)}...` : line
}
