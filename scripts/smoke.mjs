/**
 * Runs what is built as a user would, under the Node that runs this script: the command line on a
 * new ledger, then every example. Needs nothing but `dist` and the installed dependencies.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './built.mjs'

const {
  name: packageName,
  version,
  exports
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const cli = join(root, 'dist', 'src', 'cli', 'main.js')
const directory = mkdtempSync(join(tmpdir(), 'tally-smoke-'))
const ledger = join(directory, 'ledger')
const environment = { ...process.env, TALLY_PASSPHRASE: 'smoke', NO_COLOR: '1' }
const SECONDS = 1_000
let passed = 0
const failures = []

function run(name, args, holds = () => true, cwd = directory) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd,
    env: environment,
    encoding: 'utf8',
    timeout: 120 * SECONDS
  })
  if (status === 0 && holds(stdout)) {
    passed += 1
    console.log(`ok    ${name}`)
  } else {
    failures.push(name)
    console.log(`FAIL  ${name} (exit ${status})\n${stdout}${stderr}`)
  }
}

const tally = (...args) => [cli, ...args]

console.log(`smoke run under Node ${process.version}`)
run('tally --version', tally('--version'), (text) => text.trim().includes(version))
run('tally --help', tally('--help'), (text) => text.includes('verify'))
run('tally init', tally('init', '--dir', ledger))
run('tally verify --json', tally('verify', '--dir', ledger, '--json'), isJson)
run('tally log --json', tally('log', '--dir', ledger, '--json'))
for (const entry of entries()) {
  const program = `if (Object.keys(require('${entry}')).length === 0) process.exit(1)`
  run(`require('${entry}')`, ['--input-type=commonjs', '--eval', program], undefined, root)
}
for (const name of examples()) {
  run(`example ${name}`, [join(root, 'dist', 'examples', name, 'main.js')])
}
rmSync(directory, { recursive: true })
console.log(`smoke: ${passed} ok, ${failures.length} not ok`)
process.exitCode = failures.length === 0 ? 0 : 1

/** Entry points that have code. */
function entries() {
  const withCode = Object.entries(exports).filter(([, target]) => typeof target !== 'string')
  return withCode.map(([entry]) => entry.replace('.', packageName))
}

function examples() {
  const folder = join(root, 'examples')
  if (!existsSync(folder)) return []
  return readdirSync(folder).filter((name) => existsSync(join(folder, name, 'main.ts')))
}

function isJson(text) {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
