import {
  canonicalize,
  type Hash,
  hashJson,
  ledgerError,
  type RunId,
  sha256Hex,
  type UnitId
} from '../../src/core/index.js'
import { generateIdentity } from '../../src/identity/index.js'
import {
  createLedger,
  type JournalItem,
  type Ledger,
  openLedger,
  type Store,
  type UnitDraft,
  verifyLedger
} from '../../src/ledger/index.js'
import type { HistoryEntry, OpenLedger, SimulatedLedger } from './harness.js'

const START_AT = 1_700_000_000_000
/** Few keys, so that units overwrite and delete what others wrote. */
const STATE_KEYS = 5

const identity = generateIdentity({
  bytes: (length) => new Uint8Array(length).fill(9),
  uuid: () => '00000000-0000-4000-8000-000000000009'
})

/** Opens the ledger of the product for the simulator; it signs inline, so that seeds repeat. */
export function realLedger(): OpenLedger {
  const local = identity.signer()
  const signer = {
    publicKey: local.publicKey,
    sign: (message: Uint8Array) => local.sign(message)
  }
  return async (store) => {
    const options = { store, identity: identity.identity, signer, blobKey: identity.blobKey }
    const isNew = (await firstKey(store)) === undefined
    const ledger = await (isNew ? createLedger(options) : openLedger(options))
    return new RealLedger(ledger, store)
  }
}

class RealLedger implements SimulatedLedger {
  readonly #ledger: Ledger
  readonly #store: Store

  constructor(ledger: Ledger, store: Store) {
    this.#ledger = ledger
    this.#store = store
  }

  append(unit: string) {
    const appended = this.#ledger.append(itemOf(this.#ledger, unit))
    if (!appended.ok || appended.receiptHash === undefined) throw new Error('a conflict')
    return { hash: appended.receiptHash, durable: this.#ledger.durable(appended.position) }
  }

  has(unit: string): Promise<boolean> {
    return this.#ledger.hasUnit(unit as UnitId)
  }

  head(): Hash | null {
    return this.#ledger.head()
  }

  async history(): Promise<readonly HistoryEntry[]> {
    const { mode, cause } = this.#ledger.state()
    if (mode === 'safe') {
      throw ledgerError('ledger.safe_mode', { problem: cause?.message ?? 'unknown' })
    }
    const history: HistoryEntry[] = []
    for await (const { receipt } of this.#ledger.receipts()) {
      const { receiptHash, previousReceiptHash, inputPayload } = receipt
      history.push({ unit: inputPayload.id, hash: receiptHash, previous: previousReceiptHash })
    }
    return history
  }

  /** Nothing is left to `verify` but values of the state: all else opening finds or makes again. */
  async verify(): Promise<string | undefined> {
    for (const { unit, hash } of await this.history()) await this.#checkAnswers(unit, hash)
    const report = await verifyLedger({ store: this.#store, identity: this.#ledger.identity })
    const { failure } = report
    if (failure === undefined) return undefined
    if (failure.field === 'state' || failure.key?.includes('/state/') === true) return failure.field
    throw new Error(`opening left ${failure.field} of ${failure.key} to verification`)
  }

  async close(): Promise<void> {
    try {
      await this.#ledger.close()
    } finally {
      await this.#store.close()
    }
  }

  /** A unit that is there must be found, or it would be done again (L6). */
  async #checkAnswers(unit: string, hash: string): Promise<void> {
    const byUnit = await this.#ledger.unit(unit as UnitId)
    if (byUnit?.receipt.receiptHash !== hash) throw new Error(`${unit} is not found`)
    if ((await this.#ledger.receipt(hash as Hash)) === undefined) {
      throw new Error(`${hash} is not found`)
    }
    const run = this.#ledger.run(runOf(unit))
    if (run?.entries !== 2) throw new Error(`the run of ${unit} is not found`)
    let entries = 0
    for await (const entry of this.#ledger.journal(runOf(unit))) {
      entries += entry.text.length > 0 ? 1 : 0
    }
    if (entries !== 2) throw new Error(`the journal of ${unit} is not whole`)
  }
}

async function firstKey(store: Store): Promise<string | undefined> {
  for await (const [key] of store.entries({ gte: '', lt: '\uffff', limit: 1 })) return key
  return undefined
}

function runOf(unit: string): RunId {
  return `run-${unit}` as RunId
}

function itemOf(ledger: Ledger, unit: string): JournalItem {
  const number = Number(unit.split('-').at(-1))
  const runId = runOf(unit)
  const entry = (n: number, k: string, status: string) =>
    canonicalize({ at: START_AT + n, k, n, run: runId, status })
  const entries = [entry(0, 'run.started', 'running'), entry(1, 'run.finished', 'done')]
  return { runId, entries, unit: draftOf(ledger, unit, number) }
}

function draftOf(ledger: Ledger, unit: string, number: number): UnitDraft {
  const key = `key/${number % STATE_KEYS}`
  const base = ledger.head() ?? 'GENESIS'
  const isDelete = number % 7 === 6 && ledger.read(key) !== undefined
  return {
    id: unit as UnitId,
    action: 'simulate.step',
    dappId: 'block:simulate@1.0.0',
    payloadText: canonicalize({ number, filler: 'x'.repeat(number % 3 === 0 ? 1_500 : 10) }),
    payloadPrivate: number % 4 === 1,
    at: START_AT,
    seed: { base, value: sha256Hex(`tallystick/prng${base}${unit}`) },
    principal: { id: 'local', kind: 'owner' },
    provider: { kind: 'declared', id: 'simulate', codeHash: hashJson('code'), profile: {} },
    capabilitiesDeclared: [],
    capabilitiesUsed: [],
    sealed: [],
    resultText: canonicalize({ number }),
    resultPrivate: false,
    reads: new Map([[key, ledger.read(key)]]),
    lists: new Map(),
    writes: new Map([[key, isDelete ? null : canonicalize({ by: unit })]])
  }
}
