import type { IdentityId } from '../../src/core/index.js'
import { unwrapText, unwrapUnchecked, wrapValue } from '../../src/ledger/envelope.js'
import type { Store } from '../../src/ledger/index.js'
import { withBody, withOtherCode } from './derived.js'

type Told = Pick<Tampering, 'verify' | 'opened'>

/** Keys of all derived records: what is left are source records. */
export const derivedKeys = /\/(derived$|(index|chain|run|visits|tile|page|checkpoint)\/)/
const derivedKinds = /\/(derived$|(index|chain|run|visits|tile|page)\/)/

/** One way to alter a ledger, with the disk and without the key. */
export interface Tampering {
  readonly name: string
  /** Where verification by the stored bytes fails; undefined where they do not tell it. */
  readonly verify?: string
  /** Where it fails with code once it was opened, and the mode; undefined if opening mends it. */
  readonly opened?: { readonly field: string; readonly mode: 'safe' | 'ready' }
  alter(store: Store, identity: IdentityId): Promise<void>
}

/** What an honest run is asked for and gives, and what a forger has put there. */
export const honest = { asked: '18.25 to Aster Print', result: 'paid 18.25' }
export const forged = { asked: '99.99 to Mallory Ltd', result: 'paid 99.99' }

const lie = (text: string): string =>
  text.replaceAll(honest.asked, forged.asked).replaceAll(honest.result, forged.result)

/** Opening enters safe mode, and verification names the same place then. */
const caught = (field: string) => ({ verify: field, opened: { field, mode: 'safe' } as const })

/**
 * Rows of the table: each makes one kind of record say something else, with checksums mended.
 *
 * Not covered here: chains that were signed again, items that were dropped or swapped, foreign
 * receipts and cut tails. That verification finds them is tested in `replay-detects-tamper.test.ts`
 * and `integrity-lock.test.ts`, and not what is shown of them.
 */
export const tamperings: readonly Tampering[] = [
  derived('the run records, with the wait and the result that are shown', 'run', lie, {
    verify: 'derived.run'
  }),
  derived('the status in run records', 'run', (text) => text.replaceAll('"done"', '"failed"'), {
    verify: 'derived.run'
  }),
  derived('the index', 'index', undefined, { verify: 'derived.index' }),
  derived('the chain blocks', 'chain', undefined, { verify: 'derived.chain' }),
  derived('the log tiles', 'tile', undefined, { verify: 'derived.tile' }),
  derived('the state pages', 'page', undefined, { verify: 'derived.pages' }),
  // Without the key they are not checked; a run that is resumed leaves its own aside.
  derived('the checkpoints', 'checkpoint', lie, {
    opened: { field: 'derived.code', mode: 'ready' }
  }),
  {
    name: 'the codes of derived records',
    alter: (store, identity) => otherCodes(store, identity, derivedKinds)
  },
  {
    name: 'the codes of the checkpoints',
    opened: { field: 'derived.code', mode: 'ready' },
    alter: (store, identity) => otherCodes(store, identity, /\/checkpoint\//)
  },
  derived('the stamp', 'derived', (text) => text.replace(/"receipts":\d+/, '"receipts":0'), {
    verify: 'derived.receipts'
  }),
  without('all derived records but the stamp', /\/(index|chain|run|visits|tile|page)\//, {
    verify: 'store'
  }),
  lines('the result text', 'O', lie, caught('resultHash')),
  lines('the journal of all runs', 'J', lie, {
    verify: 'journalHash',
    opened: { field: 'journal.code', mode: 'safe' }
  }),
  {
    name: 'the journal of the run that waits, with its derived records gone',
    opened: { field: 'journal.code', mode: 'safe' },
    async alter(store, identity) {
      await inItems(store, identity, '"parked"', { letter: 'J', change: lie })
      await without('', derivedKeys, {}).alter(store, identity)
    }
  },
  {
    name: 'the journal of all runs, with their derived records gone',
    verify: 'journalHash',
    opened: { field: 'journal.code', mode: 'safe' },
    async alter(store, identity) {
      await lines('', 'J', lie, {}).alter(store, identity)
      await without('', derivedKeys, {}).alter(store, identity)
    }
  },
  lines('receipts', 'R', (text) => text.replace('"timestamp":1', '"timestamp":2'), {
    ...caught('receiptHash')
  }),
  {
    name: 'a state value, with its page, deleted, and the head mended',
    ...caught('head.storageRoot'),
    async alter(store, identity) {
      await without('', /\/(state|page)\//, {}).alter(store, identity)
      const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
      const mend = (text: string) =>
        text.replace(/"storageRoot":"[^"]*"/, `"storageRoot":"${empty}"`)
      await put(store, `${identity}/head`, (value, key) =>
        wrapValue(key, mend(unwrapText(key, value)))
      )
    }
  }
]

function derived(
  name: string,
  kind: string,
  change: ((text: string) => string) | undefined,
  told: Told
): Tampering {
  return {
    name,
    ...told,
    async alter(store, identity) {
      const isKind = (key: string) =>
        key === `${identity}/${kind}` || key.startsWith(`${identity}/${kind}/`)
      await each(store, isKind, (value, key) => {
        const body = unwrapUnchecked(key, value)
        const changed = change?.(body.toString()) ?? Buffer.from(body).fill(7, 0, 8)
        return withBody(key, value, changed)
      })
    }
  }
}

/** Codes by another key, over honest bodies and with honest checksums. */
function otherCodes(store: Store, identity: IdentityId, kinds: RegExp): Promise<void> {
  return each(store, (key) => key.startsWith(`${identity}/`) && kinds.test(key), withOtherCode)
}

function without(name: string, pattern: RegExp, told: Told): Tampering {
  return {
    name,
    ...told,
    async alter(store, identity) {
      const deletes: string[] = []
      for await (const [key] of store.entries({ gte: `${identity}/`, lt: `${identity}0` })) {
        if (pattern.test(key)) deletes.push(key)
      }
      await store.commit([{ puts: [], deletes }])
    }
  }
}

function lines(
  name: string,
  letter: string,
  change: (text: string) => string,
  told: Told
): Tampering {
  return {
    name,
    ...told,
    alter: (store, identity) => inItems(store, identity, '', { letter, change })
  }
}

/** Changes lines of one letter in the commits, in the items of one run or of all. */
async function inItems(
  store: Store,
  identity: IdentityId,
  run: string,
  { letter, change }: { readonly letter: string; readonly change: (text: string) => string }
): Promise<void> {
  await each(
    store,
    (key) => key.startsWith(`${identity}/commit/`),
    (value, key) => {
      let isMeant = false
      const changed = unwrapText(key, value)
        .split('\n')
        .map((line) => {
          if (line.startsWith('I')) isMeant = line.includes(run)
          return isMeant && line.startsWith(letter) ? change(line) : line
        })
      return wrapValue(key, changed.join('\n'))
    }
  )
}

async function each(
  store: Store,
  isMeant: (key: string) => boolean,
  change: (value: Uint8Array, key: string) => Uint8Array
): Promise<void> {
  const keys: string[] = []
  for await (const [key] of store.entries({ gte: '', lt: '~' })) if (isMeant(key)) keys.push(key)
  for (const key of keys) await put(store, key, change)
}

async function put(
  store: Store,
  key: string,
  change: (value: Uint8Array, key: string) => Uint8Array
): Promise<void> {
  const value = store.get(key)
  if (value === undefined) return
  await store.commit([{ puts: [[key, change(value, key)]], deletes: [] }])
}

/** Whether something that was shown or told says what only the forger wrote. */
export function isForged(shown: unknown): boolean {
  const text = typeof shown === 'string' ? shown : JSON.stringify(shown ?? null)
  return text.includes(forged.asked) || text.includes(forged.result)
}
