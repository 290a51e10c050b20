import {
  canonicalize,
  type Hash,
  type Json,
  type RunId,
  sha256Hex,
  type UnitId
} from '../../../../src/core/index.js'
import { generateIdentity, type IdentityKeys } from '../../../../src/identity/index.js'
import type { JournalItem, Ledger, Store, UnitDraft } from '../../../../src/ledger/index.js'
import { openMemoryStore } from '../../../../src/ledger/stores/memory.js'
import { createLedger, openLedger } from '../../../support/ledgers.js'

export const START_AT = 1_700_000_000_000

/** An identity made from a fixed seed: the same receipts on every run of the tests. */
export function fixedIdentity(fill = 7): IdentityKeys {
  return generateIdentity({
    bytes: (length) => new Uint8Array(length).fill(fill),
    uuid: () => '00000000-0000-4000-8000-000000000000'
  })
}

export interface TestLedger {
  readonly ledger: Ledger
  readonly store: Store
  readonly keys: IdentityKeys
}

export async function newLedger(
  options: { readonly store?: Store; readonly keys?: IdentityKeys } = {}
): Promise<TestLedger> {
  const { store = openMemoryStore(), keys = fixedIdentity() } = options
  const ledger = await createLedger(ledgerOptions(store, keys))
  return { ledger, store, keys }
}

export function reopen({ store, keys }: Pick<TestLedger, 'store' | 'keys'>): Promise<Ledger> {
  return openLedger(ledgerOptions(store, keys))
}

export function ledgerOptions(store: Store, keys: IdentityKeys) {
  return { store, identity: keys.identity, signer: keys.signer(), blobKey: keys.blobKey }
}

export interface UnitOptions {
  readonly id: string
  readonly payload?: Json
  readonly result?: Json
  readonly payloadPrivate?: boolean
  readonly resultPrivate?: boolean
  readonly raw?: string
  readonly reads?: Readonly<Record<string, Json | undefined>>
  readonly lists?: Readonly<Record<string, readonly string[]>>
  readonly writes?: Readonly<Record<string, Json | undefined>>
  readonly base?: Hash | 'GENESIS'
  readonly at?: number
}

/** A unit of work with plain values for everything that a test does not name. */
export function unit(options: UnitOptions): UnitDraft {
  const { id, payload = { amount: '10' }, result = { ok: true }, base = 'GENESIS' } = options
  const text = (value: Json | undefined) => (value === undefined ? undefined : canonicalize(value))
  return {
    id: id as UnitId,
    action: 'wallet.send',
    dappId: 'block:wallet@1.0.0',
    payloadText: canonicalize(payload),
    payloadPrivate: options.payloadPrivate ?? false,
    ...(options.raw === undefined ? {} : { raw: options.raw }),
    at: options.at ?? START_AT,
    seed: { base, value: sha256Hex(`tallystick/prng${base}${id}`) },
    principal: { id: 'local', kind: 'owner' },
    provider: {
      kind: 'declared',
      id: 'wallet',
      codeHash: sha256Hex('wallet'),
      profile: { js: 'node-20' }
    },
    capabilitiesDeclared: ['storage.read', 'storage.write'],
    capabilitiesUsed: ['storage.write'],
    sealed: [],
    resultText: canonicalize(result),
    resultPrivate: options.resultPrivate ?? false,
    reads: new Map(
      Object.entries(options.reads ?? {}).map(([key, value]) => [key, text(value)] as const)
    ),
    lists: new Map(Object.entries(options.lists ?? {})),
    writes: new Map(
      Object.entries(options.writes ?? {}).map(
        ([key, value]) => [key, text(value) ?? null] as const
      )
    )
  }
}

/** A journal entry; the rest of its fields are free. */
export function entry(
  run: string,
  n: number,
  fields: { readonly k: string; readonly [field: string]: Json }
): string {
  return canonicalize({ at: START_AT + n, n, run, ...fields })
}

/** An item with one unit and its settled entry, as a single-step run appends it. */
export function loneItem(options: UnitOptions): JournalItem {
  const runId = `run-${options.id}` as RunId
  return {
    runId,
    entries: [
      entry(runId, 0, { k: 'run.started', status: 'running', name: 'wallet' }),
      entry(runId, 1, { k: 'run.finished', status: 'done' })
    ],
    unit: unit(options)
  }
}

/** Appends and waits until it is durable; gives the receipt hash. */
export async function commit(ledger: Ledger, item: JournalItem): Promise<Hash | undefined> {
  const appended = ledger.append(item)
  if (!appended.ok) throw new Error(`conflict on ${appended.conflict}`)
  await ledger.durable(appended.position)
  return appended.receiptHash
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}
