/**
 * Makes the golden ledgers: `node make.mjs PACKAGE [NAME...]`, where PACKAGE is the directory of a
 * built tallystick. Each ledger becomes NAME.json.gz, the files of its directory in base64, and
 * NAME.snapshot.gz; ledgers.json says what is in them. They are made once by each version and kept:
 * a later version must open, resume, verify and replay them.
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { codeOf } from './code.mjs'
import { packages } from './packages.mjs'
import { scenes, worldOf } from './scenes.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const [from = '.', ...words] = process.argv.slice(2)
const build = resolve(from)
const rooms = [
  'index',
  'testing/index',
  'agent/index',
  'executor/index',
  'intent/index',
  'core/index',
  'runtime/open',
  // Where 0.1.0 has it, and where it is now.
  'runtime/registry',
  'runtime/code/registry',
  'runtime/runtime'
]

async function library() {
  const files = rooms.map((room) => join(build, `dist/src/${room}.js`))
  const load = (file) => import(pathToFileURL(file).href)
  return Object.assign({}, ...(await Promise.all(files.filter(existsSync).map(load))))
}

async function makeOne(name, directory, life) {
  const lib = await library()
  const scene = scenes[name]
  const world = worldOf(scene)
  const code = defined(codeOf(lib, world))
  const written = (scene.packages ?? []).map((id) => writePackage(directory, packages[id]))
  await scene.make({
    open: async () =>
      withBegin(
        await lib.createRuntime({
          location: join(directory, 'ledger'),
          create: 'if-absent',
          insecurePlaintextKey: true,
          serve: false,
          packages: written,
          ...code
        })
      ),
    // Workflows in code that are registered, by their names.
    functions: Object.fromEntries((code.workflows ?? []).map((one) => [one.name, one])),
    openBare: async () =>
      withBegin(await lib.createRuntime({ location: join(directory, 'ledger'), serve: false })),
    openAs: (versions) => openAs(lib, directory, versions),
    die: () => process.kill(process.pid, 'SIGKILL'),
    versions: lib.programVersions,
    world,
    life
  })
}

/** Opens the ledger as a program of other versions would. */
async function openAs(lib, directory, versions) {
  const options = {
    location: join(directory, 'ledger'),
    create: 'if-absent',
    insecurePlaintextKey: true
  }
  const { systemClock: clock, systemRandom: random } = lib
  const opened = await lib.openForRuntime(options, { random })
  const registry = await lib.Registry.open(defined(codeOf(lib, {})))
  const tally = new lib.WiredRuntime(opened, registry, {
    clock,
    random,
    durability: 'output',
    versions
  })
  await tally.checkIntegrity()
  return withBegin(tally)
}

/** 0.1.0 calls it `start`. */
function withBegin(tally) {
  return new Proxy(tally, {
    get(target, name) {
      const value = name === 'begin' ? (target.begin ?? target.start) : target[name]
      return typeof value === 'function' ? value.bind(target) : value
    }
  })
}

async function exportOne(name, directory, path) {
  const lib = await library()
  const options = { location: join(directory, 'ledger'), serve: false, mode: 'replay' }
  const code = defined(codeOf(lib, worldOf(scenes[name])))
  const tally = await lib.createRuntime({ ...options, ...code })
  await tally.export({ path })
  const report = await tally.verify({ executions: 2 })
  const { line, failure, evidence } = report
  const { receipts } = tally.status()
  // Of runs whose subject was erased nothing is executed again.
  const closed = failure === undefined ? receipts - report.reexecuted : 0
  const runs = {}
  for await (const { runId, status } of tally.runs()) runs[runId] = status
  const told = { line, failure, receipts, evidence, ...(closed > 0 ? { closed } : {}), runs }
  console.log(JSON.stringify(told))
  await tally.close()
}

function defined(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function writePackage(directory, { code, ...manifest }) {
  const path = join(directory, 'from', manifest.id)
  const whole = { name: manifest.id, version: '1.0.0', capabilitySchemas: [], ...manifest }
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, 'manifest.json'), JSON.stringify(whole))
  writeFileSync(join(path, 'bundle.mjs'), code)
  return path
}

/** The files below a directory, by path. */
function filesBelow(directory) {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  // What LevelDB says of itself is no part of a ledger.
  const isKept = (entry) => entry.isFile() && !/^LOG(\.old)?$/.test(entry.name)
  const files = entries.filter(isKept).map((entry) => {
    const path = join(entry.parentPath ?? entry.path, entry.name)
    return [relative(directory, path), readFileSync(path).toString('base64')]
  })
  return Object.fromEntries(files.sort(([one], [other]) => (one < other ? -1 : 1)))
}

function child(...given) {
  return spawnSync(process.execPath, [fileURLToPath(import.meta.url), build, ...given], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit']
  })
}

function make(name) {
  const scratch = mkdtempSync(join(tmpdir(), 'tally-golden-'))
  try {
    for (let life = 1; life <= (scenes[name].lives ?? 1); life += 1) {
      const { status, signal } = child('--one', name, scratch, String(life))
      if (status !== 0 && signal !== 'SIGKILL') throw new Error(`${name} failed`)
    }
    const packed = gzipSync(JSON.stringify(filesBelow(join(scratch, 'ledger'))), { level: 9 })
    writeFileSync(join(here, `${name}.json.gz`), packed)
    const snapshot = join(here, `${name}.snapshot.gz`)
    rmSync(snapshot, { force: true })
    const { stdout } = child('--export', name, scratch, snapshot)
    chmodSync(snapshot, 0o644)
    const { line, failure, ...told } = JSON.parse(stdout)
    console.log(name, '-', line, JSON.stringify(told.runs), failure?.field ?? '')
    return { title: scenes[name].title, ...told, ...(failure === undefined ? {} : { failure }) }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

if (words[0] === '--one') await makeOne(words[1], words[2], Number(words[3]))
else if (words[0] === '--export') await exportOne(words[1], words[2], words[3])
else {
  const { version } = JSON.parse(readFileSync(join(build, 'package.json'), 'utf8'))
  const path = join(here, 'ledgers.json')
  let known = {}
  try {
    known = JSON.parse(readFileSync(path, 'utf8')).ledgers
  } catch {
    // The first time there is none.
  }
  const names = words.length === 0 ? Object.keys(scenes) : words
  const made = Object.fromEntries(names.map((name) => [name, make(name)]))
  const ledgers = { ...known, ...made }
  writeFileSync(path, `${JSON.stringify({ madeBy: version, ledgers }, null, 2)}\n`)
}
