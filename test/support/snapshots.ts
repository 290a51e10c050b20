import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineBlock } from '../../src/code/index.js'
import type { Json, JsonObject } from '../../src/core/index.js'
import type { Receipt } from '../../src/ledger/index.js'
import { createRuntime, type RuntimeOptions, type WiredRuntime } from '../../src/runtime/index.js'

/** What a large body holds: more than a commit record takes. */
export const LARGE_LENGTH = 80_000

export const snapshotBlocks = [
  defineBlock({
    name: 'ask',
    version: '1',
    sideEffects: 'none',
    run: async (ctx) => (await ctx.wait({ reason: 'external', request: { what: 'it' } })).value
  }),
  defineBlock({
    name: 'note',
    version: '1',
    sideEffects: 'none',
    run: (ctx, input: { readonly text: string }) => {
      ctx.state.set(`texts/${input.text.slice(0, 8)}`, input.text.length)
      return { text: input.text }
    }
  }),
  defineBlock({
    name: 'lose',
    version: '1',
    sideEffects: 'none',
    run: (ctx) => ctx.fail('no_luck', { why: 'because' })
  })
]

export function documentOf(block: string): string {
  return `schema: tally-composite/1
name: ${block}
version: "1"
entry_point: first
nodes:
  first:
    block: ${block}
    input: { ref: request.payload }
`
}

export function openSnapshotLedger(
  location: string,
  options: Partial<RuntimeOptions> = {}
): Promise<WiredRuntime> {
  return createRuntime({
    location,
    insecurePlaintextKey: true,
    serve: false,
    blocks: snapshotBlocks,
    ...options
  })
}

/**
 * A ledger with a bit of everything: receipts by two keys, evidence, a large body, state, a run
 * that ended and one that waits.
 */
export async function fillLedger(tally: WiredRuntime): Promise<void> {
  const note = (text: string) => tally.begin(documentOf('note'), { inputs: { text } }).result
  await note('small')
  await note('x'.repeat(LARGE_LENGTH))
  await tally.begin(documentOf('lose')).result
  await tally.intent({ action: 'system.key.rotate' })
  await note('after the rotation')
  const waiting = tally.begin(documentOf('ask'), { id: 'open-run' })
  await waiting.waits()
  for await (const event of waiting) if (event.type === 'run.parked') break
}

export async function receiptsOf(tally: WiredRuntime): Promise<readonly Receipt[]> {
  const receipts: Receipt[] = []
  for await (const { receipt } of tally.receipts()) receipts.push(receipt)
  return receipts
}

/** The lines of a snapshot, for tests that change some. */
export interface SnapshotTexts {
  readonly header: JsonObject
  readonly lines: readonly string[]
  readonly note: Json
}

export function snapshotTexts(text: string): SnapshotTexts {
  const [header = '', ...rest] = text.trimEnd().split('\n')
  const footer = JSON.parse(rest.pop() ?? 'null') as JsonObject
  return { header: JSON.parse(header) as JsonObject, lines: rest, note: footer['note'] ?? null }
}

/** Writes lines as a program would that knows the format, with sizes, counts and hash made anew. */
export function encodeTexts({ header, lines, note }: SnapshotTexts): string {
  const count = (start: string) => lines.filter((line) => line.startsWith(start)).length
  const lengths = lines.map((line) => Buffer.byteLength(line))
  const whole = {
    ...header,
    counts: {
      commits: count('{"commit":'),
      stateEntries: count('{"key":'),
      blobs: count('{"blob":'),
      openRuns: count('{"open":')
    },
    bytes: lengths.reduce((sum, length) => sum + length + 1, 0),
    longestLine: Math.max(0, ...lengths)
  }
  const body = [JSON.stringify(whole), ...lines].map((line) => `${line}\n`).join('')
  const sha256 = createHash('sha256').update(body).digest('hex')
  return `${body}${JSON.stringify({ note, sha256 })}\n`
}

export async function temporaryDirectory(
  name: string
): Promise<{ readonly path: (...names: string[]) => string; remove(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), `tally-${name}-`))
  return {
    path: (...names) => join(directory, ...names),
    remove: () => rm(directory, { recursive: true, force: true })
  }
}
