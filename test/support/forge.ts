import { verifyLedgerDeep } from '../../src/audit/index.js'
import type { OpenWait } from '../../src/block/index.js'
import { type Block, defineBlock } from '../../src/code/index.js'
import {
  CompactRange,
  canonicalize,
  type Hash,
  type Json,
  leafNode,
  ManualClock,
  sha256Hex
} from '../../src/core/index.js'
import type { IdentityKeys } from '../../src/identity/index.js'
import {
  type JournalItem,
  openLedger,
  openMemoryStore,
  type Store
} from '../../src/ledger/index.js'
import { Registry } from '../../src/runtime/code/registry.js'
import type { Registrations, RunHandle } from '../../src/runtime/index.js'
import { WiredRuntime } from '../../src/runtime/runtime.js'
import { testKeys } from './lives.js'
import { recording } from './recording.js'

/** Blocks of the run that is forged: state, an effect, a listing, a confirmation, a failure. */
export const forgedCode: Registrations = {
  blocks: [
    block('count', (ctx) => {
      const n = (ctx.state.get<number>('n') ?? 0) + 1
      ctx.state.set('n', n)
      ctx.state.set(`seen/${n}`, ctx.uuid())
      return { n, at: ctx.now() }
    }),
    block('fetch', async (ctx) => {
      const price = await ctx.effect('price', { request: { of: 'tea' }, perform: () => '7.50' })
      const keys = await ctx.state.list('seen/')
      return { price, keys }
    }),
    block('flaky', (ctx) => (ctx.attempt < 2 ? ctx.fail('not_yet') : { attempt: ctx.attempt })),
    block('approve', async (ctx) => {
      const { action } = await ctx.wait({ reason: 'confirmation', request: 'really?' })
      return { action }
    })
  ]
}

function block(name: string, run: Parameters<typeof defineBlock>[0]['run']): Block {
  const capabilities = name === 'fetch' ? ['price'] : []
  return defineBlock({ name, version: '1.0.0', sideEffects: 'none', capabilities, run })
}

const document: Json = {
  schema: 'tally-composite/1',
  name: 'forged',
  version: '1.0.0',
  entry_point: 'count',
  nodes: {
    count: { block: 'count' },
    fetch: { block: 'fetch', confirm: true },
    flaky: { block: 'flaky', recovery: [{ retry: { max_attempts: 3 } }] },
    group: {
      composite: {
        atomic: true,
        entry_point: 'one',
        nodes: { one: { block: 'count' }, two: { block: 'fetch' } },
        transitions: { one: 'two' }
      }
    },
    approve: { block: 'approve' }
  },
  transitions: {
    count: [
      { condition: { cel: 'response.data.n >= 2' }, target: 'fetch' },
      { condition: 'default', target: 'count' }
    ],
    fetch: 'flaky',
    flaky: 'group',
    group: 'approve'
  }
}

/** What runs to its end, a document or another thing, and how its waits are answered. */
export interface HonestScene {
  readonly code: Registrations
  readonly document?: Json
  readonly begin?: (runtime: WiredRuntime) => RunHandle
  readonly answer: (run: RunHandle, wait: OpenWait) => Promise<unknown>
}

const forgedScene: HonestScene = {
  code: forgedCode,
  document,
  answer: (run, { token, digest }) => run.approve(token, { digest })
}

/** Runs a document honestly; gives the store and what was appended, in order, entry by entry. */
export async function honestLedger(scene: HonestScene = forgedScene): Promise<{
  readonly store: Store
  readonly items: readonly JournalItem[]
}> {
  const store = openMemoryStore()
  const ledger = await openFor(store, testKeys)
  const { ledger: spied, items } = recording(ledger)
  const random = { bytes: (length: number) => new Uint8Array(length), uuid: () => 'unused' }
  const runtime = new WiredRuntime(
    { ledger: spied, store, realPath: undefined, close: () => ledger.close() },
    await Registry.open(scene.code),
    { clock: new ManualClock(), random, durability: 'output' }
  )
  const { document = null, begin } = scene
  const options = { id: 'forged', inputs: { limit: '10' } }
  const run = begin?.(runtime) ?? runtime.begin(document, options)
  for await (const event of run) if (event.type === 'waiting') await scene.answer(run, event)
  await run.result
  await runtime.close()
  return { store, items: items.flatMap(singly) }
}

/** One item for each entry of one: what the item completes comes with the last. */
function singly(item: JournalItem): readonly JournalItem[] {
  const { runId, entries, runChanges } = item
  const before = entries.slice(0, -1).map((text) => ({ runId, entries: [text] }))
  const last = { ...item, entries: entries.slice(-1) }
  if (runChanges === undefined) return [...before, last]
  const ofLast = runChanges.filter(({ index }) => index === entries.length - 1)
  return [...before, { ...last, runChanges: ofLast.map((one) => ({ ...one, index: 0 })) }]
}

/**
 * What the holder of the right key can write: any items, with hashes, links, roots and signatures
 * in order. Journal hash and receipt count of the run are made to fit what is written.
 */
export async function forgedLedger(
  items: readonly JournalItem[],
  keys: IdentityKeys = testKeys
): Promise<Store> {
  const store = openMemoryStore()
  const ledger = await openFor(store, keys)
  let journalHash = ''
  const receipts = new CompactRange()
  for (const item of items) {
    const totals = { journalHash, receipts: { count: receipts.size, root: receipts.root() } }
    const fitted = madeToFit(item, totals)
    const chained = fitted.entries.reduce((hash, text) => sha256Hex(hash + text), journalHash)
    const appended = ledger.append({ ...fitted, journalHash: chained as Hash })
    if (!appended.ok) throw new Error(`the forged ledger conflicts on ${appended.conflict}`)
    await ledger.durable(appended.position)
    journalHash = chained
    if (appended.receiptHash !== undefined) {
      receipts.append(leafNode(Buffer.from(appended.receiptHash, 'hex')))
    }
  }
  await ledger.close()
  return store
}

interface Totals {
  readonly journalHash: string
  readonly receipts: { readonly count: number; readonly root: Hash }
}

function madeToFit(item: JournalItem, totals: Totals): JournalItem {
  const [text = '{}'] = item.entries
  const entry = JSON.parse(text)
  // Reads and listings are checked against a ledger that continues; a forger has nothing to fear
  // there.
  const { rests: _, ...bare } = item
  if (item.unit === undefined) return bare
  const unit = { ...item.unit, reads: new Map(), lists: new Map() }
  if (entry.k !== 'run.finished') return { ...item, unit }
  const payload = { ...JSON.parse(unit.payloadText), ...totals }
  return {
    ...item,
    entries: [canonicalize({ ...entry, journalHash: totals.journalHash })],
    unit: { ...unit, payloadText: canonicalize(payload) }
  }
}

export async function verifyForged(store: Store, reexecute = true, registered = forgedCode) {
  const code = await Registry.open(registered)
  return verifyLedgerDeep({ store, identity: testKeys.identity, code, reexecute })
}

function openFor(store: Store, keys: IdentityKeys) {
  const { blobKey } = keys
  const options = { store, identity: testKeys.identity, blobKey, create: 'if-absent' } as const
  return openLedger({ ...options, signer: keys.signer() })
}
