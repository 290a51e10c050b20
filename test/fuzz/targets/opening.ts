import { unwrapUnchecked, wrapValue } from '../../../src/ledger/envelope.js'
import { type JournalItem, openMemoryStore, type Store } from '../../../src/ledger/index.js'
import type { Registrations } from '../../../src/runtime/index.js'
import type { WiredRuntime } from '../../../src/runtime/runtime.js'
import { forgedCode, forgedLedger, honestLedger } from '../../support/forge.js'
import { lasting } from '../../support/lasting-store.js'
import { openOn } from '../../support/lives.js'
import { verificationProblems } from '../../support/verified-close.js'
import type { FuzzTarget } from '../target.js'
import { forgedItems } from './verification.js'

/** Opening a ledger with a run that has not ended, of which records were altered; and its end. */

const everything = { gte: '', lt: '\uffff' }
type Entries = readonly (readonly [string, Uint8Array])[]

async function entriesOf(store: Store): Promise<Entries> {
  const entries: (readonly [string, Uint8Array])[] = []
  for await (const entry of store.entries(everything)) entries.push(entry)
  return entries
}

async function storeOf(puts: Entries): Promise<Store> {
  const store = openMemoryStore()
  await store.commit([{ puts, deletes: [] }])
  return store
}

const honest = await honestLedger()
const isWait = ({ entries }: JournalItem) => entries.some((text) => JSON.parse(text).k === 'wait')
const beforeLastWait = honest.items.slice(0, honest.items.findLastIndex(isWait))

/** Of the honest run while it waits for its last answer, with its checkpoint. */
async function parkedEntries(): Promise<Entries> {
  const store = await forgedLedger(beforeLastWait)
  const tally = await openOn(lasting(store), forgedCode)
  const run = await tally.resume('forged')
  for await (const { type } of run) if (type === 'run.parked') break
  await tally.close()
  return entriesOf(store)
}

/** Turns of the loop after which a run that does nothing is taken to wait for something else. */
const TURNS_MAX = 3_000

/** How a ledger opens, and how its run ends where it may continue. */
export async function endOf(store: Store, code: Registrations = forgedCode): Promise<string> {
  const tally = await openOn(store, code)
  try {
    await tally.checkIntegrity()
    const { mode, cause } = tally.status()
    if (mode !== 'ready') return cause?.code ?? mode
    return tally.run('forged') === undefined ? 'no run' : await driven(tally)
  } finally {
    await tally.close()
    // What a forger has written is to be found: that is what others assert.
    verificationProblems()
  }
}

async function driven(tally: WiredRuntime): Promise<string> {
  const run = await tally.resume('forged')
  const ended: { error?: unknown; status?: string } = {}
  run.result.then(
    ({ status }) => {
      ended.status = status
    },
    (error: unknown) => {
      ended.error = error
    }
  )
  const answered = new Set<string>()
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    if (ended.error !== undefined) throw ended.error
    if (ended.status !== undefined) return ended.status
    for (const { token, digest, actions } of await run.waits()) {
      if (answered.has(token)) continue
      answered.add(token)
      if (actions.includes('signal')) await run.signal('paid', { amount: '12.00' }, { id: token })
      else await run.approve(token, { digest })
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  return 'waiting'
}

/** Entries that the holder of the key has written, line by line in place of the honest ones. */
async function forgedOpen(input: Buffer): Promise<string> {
  const forged = forgedItems(input, honest.items.slice(0, -1))
  const store = await forgedLedger(forged).catch(() => undefined)
  // What the ledger does not take as an item cannot stand in it.
  return store === undefined ? 'not written' : endOf(store)
}

const parked = await parkedEntries()

/** A record in place of one of the open run's, under a checksum that fits. */
function alteredOpen(kind: '/commit/' | '/checkpoint/') {
  const keys = parked.map(([key]) => key).filter((key) => key.includes(kind))
  return async (input: Buffer): Promise<string> => {
    const number = Number(/"seq":(\d+)/.exec(input.toString('latin1'))?.[1] ?? 0)
    const altered = keys[number % keys.length]
    const entries = parked.map(([key, value]) =>
      key === altered ? ([key, wrapValue(key, input)] as const) : ([key, value] as const)
    )
    return endOf(await storeOf(entries))
  }
}

/** Texts of the honest ledger, from which the corpus was taken. */
export function openTexts(): Readonly<Record<string, readonly string[]>> {
  const journal = honest.items.slice(0, -1).flatMap(({ entries }) => entries)
  const textsOf = (kind: string) =>
    parked.flatMap(([key, value]) =>
      key.includes(kind) ? [unwrapUnchecked(key, value).toString('utf8')] : []
    )
  return {
    'open-journals': [journal.slice(0, 8), journal].map((lines) => lines.join('\n')),
    'open-records': textsOf('/commit/').slice(-2),
    'run-checkpoints': textsOf('/checkpoint/')
  }
}

/** L12: what is damaged is found when it is opened or resumed, and never as another error. */
export const openingTargets: Readonly<Record<string, FuzzTarget>> = {
  'open-journals': { readers: [], isSlow: true, read: forgedOpen },
  'open-records': { readers: [], isSlow: true, read: alteredOpen('/commit/') },
  'run-checkpoints': {
    readers: ['runtime/run/checkpoint.ts#parseCheckpoint'],
    isSlow: true,
    // It is a cache: what is wrong with it changes nothing.
    read: async (input) => {
      const end = await alteredOpen('/checkpoint/')(input)
      if (end !== 'done') throw new Error(`with this checkpoint the run is ${end}`)
      return end
    }
  }
}
