/**
 * Processor time of readers on hostile documents and snapshots, by kind, and the longest time for
 * which one of them held the event loop: `node dist/bench/documents.js [WORD...]`
 * for those whose kind or name contains a word, `--bytes N`, `--each` for every document.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readingManifest } from '../src/capability/index.js'
import { defineBlock } from '../src/code/index.js'
import {
  canonicalize,
  DocumentWork,
  elapsedMs,
  inSlices,
  limits,
  Redactor
} from '../src/core/index.js'
import { importSnapshot } from '../src/ledger/index.js'
import { createRuntime } from '../src/runtime/index.js'
import { checkAisDocument } from '../src/workflow/index.js'
import { type HostileDocument, hostileDocuments } from './hostile-documents.js'
import { hostileSnapshots } from './hostile-snapshots.js'
import { Scratch } from './measure.js'
import { countIn, givenWords } from './words.js'

const words = givenWords('node dist/bench/documents.js [WORD...] [--bytes N] [--each]', () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', default: false },
      bytes: { type: 'string', default: '1000000' },
      each: { type: 'boolean', default: false }
    }
  })
  return { ...values, bytes: countIn(values.bytes, 'bytes'), parts: positionals }
})

const task = defineBlock({ name: 'task', version: '1', run: () => null })
const runtime = await createRuntime({ location: 'memory:', blocks: [task] })

async function read({ kind }: HostileDocument, text: string): Promise<string> {
  if (kind === 'manifest') {
    const parsed = await inSlices(readingManifest(text, {}), new DocumentWork())
    return parsed.ok ? 'ok' : `${parsed.refusals.length} refusals`
  }
  if (kind === 'protocol' || kind === 'pack') {
    const { issues } = await checkAisDocument(text)
    return issues.at(-1)?.message ?? 'ok'
  }
  const diagnostics = await runtime.lint(text)
  return diagnostics.at(-1)?.message ?? 'ok'
}

const isWanted = ({ kind, name }: HostileDocument) =>
  words.parts.length === 0 || words.parts.some((word) => `${kind} ${name}`.includes(word))

interface Cost {
  readonly processorMs: number
  /** Longest time for which the event loop had no turn. */
  readonly sliceMs: number
}

/** Processor time of the main thread, where the system says it: others do not lengthen a slice. */
function threadMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6
  } catch {
    return elapsedMs()
  }
}

async function costOf(act: () => Promise<unknown>): Promise<Cost> {
  // What the document before has left is not what this one costs.
  collectGarbage()
  const before = process.cpuUsage()
  let last = threadMs()
  let sliceMs = 0
  let isDone = false
  const turn = () => {
    const now = threadMs()
    sliceMs = Math.max(sliceMs, now - last)
    last = now
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  await act()
  isDone = true
  turn()
  const { user, system } = process.cpuUsage(before)
  return { processorMs: (user + system) / 1_000, sliceMs }
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

interface Dearest {
  readonly name: string
  readonly bytes: number
}

const dearest = new Map<string, Dearest & Cost>()
const longest = new Map<string, Dearest & Cost>()

function note(kind: string, one: Dearest & Cost, found: string): void {
  if (one.processorMs > (dearest.get(kind)?.processorMs ?? -1)) dearest.set(kind, one)
  if (one.sliceMs > (longest.get(kind)?.sliceMs ?? -1)) longest.set(kind, one)
  if (!words.each) return
  const [all, slice] = [one.processorMs, one.sliceMs].map((ms) => ms.toFixed(0).padStart(5))
  const text = `${kind}: ${one.name}: ${found.slice(0, 70)}`
  process.stdout.write(`${all} ms, at once ${slice} ms, ${one.bytes} B, ${text}\n`)
}

await runtime.lint('schema: ais-flow/0.0.3')
await runtime.lint('meta: {schemaVersion: "2.0"}\ngraph: {}')
await runtime.lint(
  JSON.stringify({
    schema: 'tally-composite/1',
    name: 'warm',
    version: '1',
    entry_point: 'a',
    nodes: { a: { block: 'task', input: { cel: '1+1' } } }
  })
)
const { DOCUMENT_BYTES_MAX, PACKAGE_MANIFEST_BYTES_MAX: MANIFEST_BYTES_MAX } = limits

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** A document of about the bytes that are asked for, and of no more than its kind may have. */
function textWithin({ make }: HostileDocument, most: number): string {
  const text = make(Math.min(words.bytes, most * 0.95))
  return text.length <= most ? text : make((most * most * 0.95) / text.length)
}

for (const document of hostileDocuments.filter(isWanted)) {
  const most = document.kind === 'manifest' ? MANIFEST_BYTES_MAX : DOCUMENT_BYTES_MAX
  const text = textWithin(document, most)
  let found = ''
  const cost = await costOf(async () => {
    found = await read(document, text).catch((error: unknown) => `THROWS ${textOf(error)}`)
  })
  note(document.kind, { ...cost, name: document.name, bytes: text.length }, found)
}
if (words.parts.length === 0 || words.parts.includes('snapshot')) await readSnapshots()
if (words.parts.length === 0 || words.parts.includes('response')) await readResponses()
for (const [kind, { name, bytes, processorMs }] of dearest) {
  const slice = longest.get(kind)
  const held = `${slice?.sliceMs.toFixed(0)} (${slice?.name})`
  process.stdout.write(`| ${kind} | ${name} | ${bytes} | ${processorMs.toFixed(0)} | ${held} |\n`)
}

/** Imports hostile snapshots of twice the size of a document, and an honest one. */
async function readSnapshots(): Promise<void> {
  const scratch = new Scratch()
  const file = scratch.directory()
  const honest = await honestSnapshot(scratch.directory(), file)
  for (const snapshot of [{ name: 'an honest one', make: () => honest }, ...hostileSnapshots]) {
    const text = snapshot.make(honest.trimEnd().split('\n'), 2 * words.bytes)
    writeFileSync(file, text)
    let found = 'accepted'
    const cost = await costOf(() =>
      importSnapshot(scratch.directory(), { file }).catch((error: unknown) => {
        found = textOf(error)
      })
    )
    note('snapshot', { ...cost, name: snapshot.name, bytes: text.length }, found)
  }
  scratch.remove()
}

/** Looks for a secret in the longest responses that read in many ways. */
async function readResponses(): Promise<void> {
  const redactor = new Redactor()
  const secret = 's3cret-value-1234'
  redactor.know('env:SECRET', secret)
  for (const unit of ['\\', '\\"', '\\u005c', '%25', '\\u0025%5c']) {
    // Written as JSON, a backslash takes two characters.
    const text = canonicalize(
      `${unit.repeat(limits.VALUE_BYTES_MAX / 2 / unit.length - 16)}${secret}`
    )
    const cost = await costOf(() => redactor.inTurns('canonical', text))
    note('response', { ...cost, name: `many of ${unit}`, bytes: text.length }, 'redacted')
  }
}

async function honestSnapshot(location: string, path: string): Promise<string> {
  await using ledger = await createRuntime({
    location,
    create: 'if-absent',
    blocks: [task],
    insecurePlaintextKey: true
  })
  const document = JSON.stringify({
    schema: 'tally-composite/1',
    name: 'honest',
    version: '1',
    entry_point: 'a',
    nodes: { a: { block: 'task' } }
  })
  for (let runs = 0; runs < 100; runs += 1) await ledger.begin(document).result
  await ledger.export({ path })
  return readFileSync(path, 'utf8')
}

await runtime.close()
