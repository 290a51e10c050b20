import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalize, type Json, sha256Hex } from '../../../../src/core/index.js'
import type { Ledger, PastLedger } from '../../../../src/ledger/index.js'
import { verifyLedger } from '../../../../src/ledger/index.js'
import {
  parseStateProof,
  verifyAbsence,
  verifyMembership
} from '../../../../src/ledger/state/index.js'
import { cases } from '../../../support/effort.js'
import { collect, commit, loneItem, newLedger, reopen, type TestLedger } from '../core/support.js'

type Writes = Readonly<Record<string, Json | undefined>>
type State = ReadonlyMap<string, string>

/** What each receipt of a ledger left: the oracle, which reads all. */
async function statesOf(ledger: Ledger): Promise<readonly State[]> {
  const states: State[] = []
  let state = new Map<string, string>()
  for await (const { writeSet } of ledger.receipts()) {
    state = new Map(state)
    for (const { key, after } of writeSet) {
      if (after === undefined) state.delete(key)
      else state.set(key, canonicalize(after))
    }
    states.push(state)
  }
  return states
}

async function all(past: PastLedger, asOf: number, prefix = '', limit = 3): Promise<State> {
  const found = new Map<string, string>()
  let after: string | undefined
  for (;;) {
    const { values, next } = await past.values({ asOf, prefix, after, limit })
    expect(values.length).toBeLessThanOrEqual(limit)
    for (const { key, text = 'withheld' } of values) {
      expect(found.has(key)).toBe(false)
      found.set(key, text)
    }
    if (next === undefined) return found
    after = next
  }
}

/** Values of more than a kilobyte stand in write sets as references. */
const long = 'x'.repeat(1_200)

function shown(state: State): State {
  const texts = [...state].map(([key, text]) => {
    const isReference = text.includes('"$blob"')
    return [key, isReference ? canonicalize({ long }) : text] as const
  })
  return new Map(
    texts.sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
  )
}

const keys = ['a', 'a/b', 'a/c', 'b', 'é', '\u{1f600}', '\uffff', 'system/packages/p']
const writes = fc.dictionary(
  fc.constantFrom(...keys),
  fc.oneof(fc.integer(), fc.constant(undefined), fc.constant({ long })),
  { maxKeys: 4 }
)

describe('a past state', () => {
  it('is what reading all receipts gives, at every receipt, page by page and after reopening', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(writes, { minLength: 1, maxLength: 12 }),
        fc.array(writes, { maxLength: 6 }),
        async (first, later) => {
          const opened = await newLedger()
          await append(opened.ledger, first, 0)
          await same(opened.ledger)
          await append(opened.ledger, later, first.length)
          await same(opened.ledger)
          await opened.ledger.close()
          const again = await reopen(opened)
          await same(again)
          await again.close()
        }
      ),
      { numRuns: cases({ usual: 12, long: 55 }) }
    )
  })

  it('is proved by the root that the receipt signs, for keys that are there and that are not', async () => {
    const { ledger } = await newLedger()
    await append(ledger, [{ a: 1, b: 2 }, { a: 3 }, { b: undefined, c: { long } }], 0)
    const past = await ledger.past()
    const states = await statesOf(ledger)
    for (const [asOf, state] of states.entries()) {
      const { receipt } = (await ledger.receipt(asOf)) ?? {}
      for (const key of ['a', 'b', 'c', 'd']) {
        const { root, parts, proof: text, text: valueText } = await past.proof(key, asOf)
        expect(root).toBe(receipt?.nextStateRoot)
        expect(sha256Hex(canonicalize(parts))).toBe(root)
        const proof = parseStateProof(text)
        const given = { root: parts.storage, key }
        const holds =
          proof.type === 'membership'
            ? verifyMembership({ ...given, proof, valueText: valueText ?? '' })
            : verifyAbsence({ ...given, proof })
        expect([key, holds, valueText ?? undefined]).toEqual([key, true, shown(state).get(key)])
      }
    }
    await ledger.close()
  })

  it('names each change of a key, newest first, with what was there before', async () => {
    const { ledger } = await newLedger()
    await append(ledger, [{ a: 1 }, { b: 1 }, { a: { long } }, { a: undefined }, { a: 2 }], 0)
    const past = await ledger.past()
    const found = []
    for (let before: number | undefined; ; ) {
      const changes = await past.changes({ key: 'a', before, limit: 2 })
      found.push(...changes.map(({ index, before: was, after }) => [index, was, after]))
      before = changes.at(-1)?.index
      if (before === undefined) break
    }
    const longText = canonicalize({ long })
    expect(found).toEqual([
      [4, null, '2'],
      [3, longText, null],
      [2, '1', longText],
      [0, null, '1']
    ])
    expect(await past.changes({ key: 'none', limit: 2 })).toEqual([])
    await ledger.close()
  })

  it('L12: is right where a record of the index of writes was taken, or put back', async () => {
    const opened = await newLedger()
    const { store } = opened
    await append(opened.ledger, [{ a: 1, b: 1 }, { a: 2 }], 0)
    await same(opened.ledger)
    const earlier = await indexOf(opened)
    await append(opened.ledger, [{ a: 3 }, { a: 1, b: undefined }], 2)
    await same(opened.ledger)
    await opened.ledger.close()
    const whole = await indexOf(opened)
    expect(whole).toHaveLength(9)
    for (const [key, value] of whole) {
      const old = earlier.find(([one]) => one === key)
      for (const tampered of [undefined, old?.[1]]) {
        if (tampered === undefined) await store.commit([{ puts: [], deletes: [key] }])
        else await store.commit([{ puts: [[key, tampered]], deletes: [] }])
        const ledger = await reopen(opened)
        await same(ledger)
        await ledger.close()
        await store.commit([{ puts: [[key, value]], deletes: [] }])
      }
    }
  })

  it('is made anew where the index of writes is of another chain', async () => {
    const opened = await newLedger()
    await append(opened.ledger, [{ a: 1 }, { a: 2 }], 0)
    await same(opened.ledger)
    await opened.ledger.close()
    const index = `${opened.keys.identity}/writes`
    const value = opened.store.get(index)
    const bytes = Buffer.from(value ?? [])
    bytes[bytes.length - 3] = (bytes[bytes.length - 3] ?? 0) ^ 1
    await opened.store.commit([{ puts: [[index, bytes]], deletes: [] }])
    const ledger = await reopen(opened)
    await same(ledger)
    await ledger.close()
    const { identity, verificationKey: key } = ledger
    expect((await verifyLedger({ store: opened.store, identity, key })).ok).toBe(true)
  })
})

async function indexOf({ store, keys: { identity } }: TestLedger) {
  const range = { gte: `${identity}/writes`, lt: `${identity}/writet` }
  return collect(store.entries(range))
}

async function append(ledger: Ledger, units: readonly Writes[], from: number): Promise<void> {
  for (const [place, writes] of units.entries()) {
    await commit(ledger, loneItem({ id: `u${from + place}`, writes }))
  }
}

async function same(ledger: Ledger): Promise<void> {
  const past = await ledger.past()
  const states = await statesOf(ledger)
  for (const [asOf, state] of states.entries()) {
    expect([...(await all(past, asOf))]).toEqual([...shown(state)])
    const inA = [...shown(state)].filter(([key]) => key.startsWith('a'))
    expect([...(await all(past, asOf, 'a', 1))]).toEqual(inA)
  }
}
