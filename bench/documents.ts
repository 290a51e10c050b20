/**
 * Processor time of readers on hostile documents, by kind: `node dist/bench/documents.js [WORD...]`
 * for those whose kind or name contains a word, `--bytes N`, `--each` for every document.
 */
import { parseArgs } from 'node:util'
import { defineBlock } from '../src/block/index.js'
import { parseManifest } from '../src/capability/index.js'
import type { Json } from '../src/core/index.js'
import { createRuntime } from '../src/runtime/index.js'
import { checkAisDocument } from '../src/workflow/index.js'
import { type HostileDocument, hostileDocuments } from './hostile-documents.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    bytes: { type: 'string', default: '1000000' },
    each: { type: 'boolean', default: false }
  }
})

const task = defineBlock({ name: 'task', version: '1', run: () => null })
const runtime = await createRuntime({ location: 'memory:', blocks: [task] })

async function read({ kind }: HostileDocument, text: string): Promise<string> {
  if (kind === 'manifest') {
    const parsed = parseManifest(JSON.parse(text) as Json)
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
  positionals.length === 0 || positionals.some((word) => `${kind} ${name}`.includes(word))

const worst = new Map<
  string,
  { readonly ms: number; readonly name: string; readonly bytes: number }
>()
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
for (const document of hostileDocuments.filter(isWanted)) {
  const text = document.make(Math.min(Number(values.bytes), 1024 * 1024 * 0.95))
  const before = process.cpuUsage()
  let found: string
  try {
    found = await read(document, text)
  } catch (error) {
    found = `THROWS ${error instanceof Error ? error.message : String(error)}`
  }
  const { user, system } = process.cpuUsage(before)
  const ms = (user + system) / 1_000
  const { kind, name } = document
  if (ms > (worst.get(kind)?.ms ?? -1)) worst.set(kind, { ms, name, bytes: text.length })
  if (values.each) {
    process.stdout.write(
      `${ms.toFixed(0).padStart(7)} ms ${text.length} B, ${kind}: ${name}: ${found.slice(0, 70)}\n`
    )
  }
}
for (const [kind, { ms, name, bytes }] of worst) {
  process.stdout.write(`| ${kind} | ${name} | ${bytes} | ${ms.toFixed(0)} |\n`)
}
await runtime.close()
