import fc from 'fast-check'
import { expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import { isTallyError, type Json } from '../../src/core/index.js'
import type { WiredRuntime } from '../../src/runtime/index.js'
import { archiveShare } from '../support/archived-share.js'
import '../support/seed.js'
import { cases, testMs } from '../support/effort.js'
import { documentOf, openSnapshotLedger, temporaryDirectory } from '../support/snapshots.js'

/** G2: the state stays whole, whatever of its history is archived. */

type State = ReadonlyMap<string, Json>
type Act =
  | { readonly act: 'write'; readonly changes: Readonly<Record<string, Json>> }
  | { readonly act: 'archive'; readonly share: number }
  | { readonly act: 'reopen' | 'look' }

const KEYS = ['k/a', 'k/b', 'k/c', 'k/d']
const LONG = 'x'.repeat(1_100)

const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .dictionary(
          fc.constantFrom(...KEYS),
          fc.oneof(fc.constant(null), fc.integer(), fc.constant(LONG)),
          { minKeys: 1, maxKeys: 3, noNullPrototype: true }
        )
        .map((changes): Act => ({ act: 'write', changes }))
    },
    {
      weight: 2,
      arbitrary: fc
        .double({ min: 0, max: 1, noNaN: true })
        .map((share): Act => ({ act: 'archive', share }))
    },
    { weight: 2, arbitrary: fc.constantFrom<Act>({ act: 'reopen' }, { act: 'look' }) }
  ),
  { minLength: 3, maxLength: 16 }
)

/** Sets keys to values, and removes those whose value is null. */
const write = defineBlock({
  name: 'write',
  version: '1',
  sideEffects: 'none',
  run: (ctx, changes: Readonly<Record<string, Json>>) => {
    for (const [key, value] of Object.entries(changes)) {
      if (value === null) ctx.state.delete(key)
      else ctx.state.set(key, value)
    }
  }
})

const document = documentOf('write')

const open = (location: string) =>
  openSnapshotLedger(location, { create: 'if-absent', blocks: [write] })

const isArchived = (error: unknown) => isTallyError(error, 'ledger.archived')

/** A ledger, and what each of its receipts left of the keys. */
class Written {
  readonly states: State[] = []
  #archives = 0
  #state: State = new Map()

  constructor(
    readonly path: (name: string) => string,
    public tally: WiredRuntime
  ) {}

  async do(act: Act): Promise<void> {
    const { tally } = this
    switch (act.act) {
      case 'write': {
        const inputs = { ...act.changes }
        expect((await tally.begin(document, { inputs }).result).status).toBe('done')
        const state = new Map(this.#state)
        for (const [key, value] of Object.entries(act.changes)) {
          if (value === null) state.delete(key)
          else state.set(key, value)
        }
        this.#state = state
        break
      }
      case 'archive': {
        const path = this.path(`${this.#archives}.archive`)
        if (await archiveShare(tally, { path, share: act.share })) this.#archives += 1
        break
      }
      case 'reopen':
        await tally.close()
        this.tally = await open(this.path('ledger'))
        break
      case 'look':
        await this.judge()
    }
    while (this.states.length < this.tally.status().receipts) this.states.push(this.#state)
  }

  /** The state in force is whole; of earlier ones and of changes, what is given is right. */
  async judge(): Promise<void> {
    const { tally, states } = this
    expect(tally.status().mode).toBe('ready')
    const state = this.#state
    for (const key of KEYS) expect(await tally.state.get(key)).toEqual(state.get(key))
    const listed = (await tally.state.list('k/')).items
    expect(new Map(listed.map(({ key, value }) => [key, value]))).toEqual(sorted(state))
    for (const [asOf, expected] of states.entries()) {
      const found = await this.#asOf(asOf)
      if (asOf === states.length - 1) expect(found).toBeDefined()
      if (found !== undefined) expect(found).toEqual(sorted(expected))
    }
    for (const key of KEYS) await this.#judgeHistory(key)
    await this.#judgeProof()
    expect(tally.status().mode).toBe('ready')
  }

  async #asOf(asOf: number): Promise<State | undefined> {
    const found = new Map<string, Json>()
    let cursor: string | undefined
    try {
      do {
        const at = cursor === undefined ? {} : { cursor }
        const page = await this.tally.queries.state({ asOf, prefix: 'k/', limit: 2, ...at })
        for (const { key, value, index } of page.items) {
          found.set(key, value)
          if (index !== null) expect(this.states[index]?.get(key)).toEqual(value)
        }
        cursor = page.next ?? undefined
      } while (cursor !== undefined)
      return found
    } catch (error) {
      if (!isArchived(error)) throw error
      return undefined
    }
  }

  async #judgeHistory(key: string): Promise<void> {
    const valueAt = (index: number) => this.states[index]?.get(key) ?? null
    try {
      const { items } = await this.tally.queries.stateHistory({ key, limit: 50 })
      for (const { index, before, after, removed } of items) {
        expect(after).toEqual(valueAt(index))
        expect(removed).toBe(valueAt(index) === null)
        if (before !== null) expect(before).toEqual(valueAt(index - 1))
      }
    } catch (error) {
      if (!isArchived(error)) throw error
    }
  }

  /** The last receipt signs each value of the state in force. */
  async #judgeProof(): Promise<void> {
    const isUnwritten = this.states.length === 0
    const isLastArchived =
      this.tally.ledger.archiving.history?.boundary.receipts === this.tally.status().receipts
    if (isUnwritten || isLastArchived) return
    for (const key of KEYS) {
      const { value } = await this.tally.queries.stateProof({ key })
      expect(value).toEqual(this.#state.get(key) ?? null)
    }
  }
}

function sorted(state: State): State {
  return new Map([...state].sort(([one], [other]) => (one < other ? -1 : 1)))
}

it('G2: whatever is archived, the state in force is whole, and no earlier one is given wrong', {
  timeout: testMs(240_000)
}, async () => {
  await fc.assert(
    fc.asyncProperty(acts, async (given) => {
      const place = await temporaryDirectory('archived-state')
      const ledger = new Written((name) => place.path(name), await open(place.path('ledger')))
      try {
        for (const act of given) await ledger.do(act)
        await ledger.judge()
        await ledger.do({ act: 'reopen' })
        await ledger.judge()
      } finally {
        await ledger.tally.close()
        await place.remove()
      }
    }),
    { numRuns: cases({ usual: 15, long: 30, soak: 400 }) }
  )
})

it('G2: the state behind an archive is given while runs change it', async () => {
  const place = await temporaryDirectory('archived-state')
  const ledger = new Written((name) => place.path(name), await open(place.path('ledger')))
  try {
    for (let key = 0; key < 40; key += 1) {
      await ledger.do({ act: 'write', changes: { [`k/${key}`]: key } })
    }
    await ledger.do({ act: 'archive', share: 1 })
    await ledger.do({ act: 'reopen' })
    const { tally } = ledger
    const changed = Array.from({ length: 40 }, (_, key) => {
      const inputs = { [`k/${key}`]: key % 3 === 0 ? null : 'changed', [`k/new-${key}`]: key }
      return tally.begin(document, { inputs }).result
    })
    for (let asked = 0; asked < 5; asked += 1) {
      const { items } = await tally.state.list('k/', { limit: 200 })
      expect(items.length).toBeGreaterThan(25)
    }
    await Promise.all(changed)
    const { items } = await tally.state.list('k/', { limit: 200 })
    const left = 40 - Math.ceil(40 / 3)
    expect(items.filter(({ value }) => value === 'changed')).toHaveLength(left)
    expect(items).toHaveLength(left + 40)
    expect(tally.status().mode).toBe('ready')
  } finally {
    await ledger.tally.close()
    await place.remove()
  }
})
