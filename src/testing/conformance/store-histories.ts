import { deepEqual, equal, ok } from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { nextTurn, Xorshift128 } from '../../core/index.js'
import type { StoreItem } from '../../ledger/index.js'
import type { Stores } from './store-driver.js'
import { bytes, put, text, texts } from './store-values.js'

export async function agree(stores: Stores, seed: number, steps = 60): Promise<void> {
  const random = new Xorshift128(`store-conformance/${seed}`)
  const model = new Map<string, string>()
  let store = await stores.create()
  const key = () => ['a', 'a/b', 'b', 'é', '\uffff', '\u{10000}'][random.uint32() % 6] ?? 'a'
  for (let step = 0; step < steps; step += 1) {
    const items = Array.from({ length: random.uint32() % 4 }, () => randomItem(random, key, model))
    const expected = items.map((item) => applyToModel(model, item))
    deepEqual(await store.commit(items), expected, `seed ${seed}, step ${step}`)
    if (random.uint32() % 8 === 0) store = (await stores.reopened(store)) ?? store
    const reverse = random.uint32() % 2 === 0
    const [gte, lt] = [key(), key()]
    deepEqual(
      await texts(store, { gte, lt, reverse }),
      modelRange(model, gte, lt, reverse),
      `seed ${seed}, step ${step}`
    )
    for (const name of model.keys()) equal(text(store.get(name)), model.get(name))
  }
}

export async function agreeAtOnce(stores: Stores, seed: number, lives = 3): Promise<void> {
  const random = new Xorshift128(`store-conformance/at-once/${seed}`)
  let model = new Map<string, string>()
  let store = await stores.create()
  for (let life = 0; life < lives; life += 1) {
    const history = [new Map(model)]
    let acknowledged = 0
    const place = `seed ${seed}, life ${life}`
    const one = async (identity: number) => {
      for (let left = 1 + (random.uint32() % 6); left > 0; left -= 1) {
        const items = linkItems(random, identity, model)
        const expected = items.map((item) => applyToModel(model, item))
        const number = history.push(new Map(model)) - 1
        deepEqual(await store.commit(items), expected, place)
        acknowledged = Math.max(acknowledged, number)
      }
    }
    const writers = Array.from({ length: 1 + (random.uint32() % 12) }, (_, at) => one(at))
    const all = Promise.allSettled(writers)
    const isCut = life < lives - 1 && random.uint32() % 2 === 0
    if (isCut) await crashMoments[random.uint32() % crashMoments.length]?.()
    else await Promise.all(writers)
    const known = acknowledged
    const next = isCut ? await stores.crashed(store) : await stores.reopened(store)
    const found = next === undefined ? undefined : await texts(next, everything)
    const ended = await all
    if (next === undefined || found === undefined) {
      ok(isCut || ended.every(({ status }) => status === 'fulfilled'), place)
      deepEqual(await texts(store, everything), entriesOf(model), place)
      continue
    }
    const upTo = history.findLastIndex((map) => isDeepStrictEqual(entriesOf(map), found))
    ok(upTo >= known, `${place}: ${known} were acknowledged, and what ${upTo} leave is there`)
    model = new Map(history[upTo])
    store = next
  }
}

/** One or two links of an identity, now and then on a head that it does not have. */
function linkItems(
  random: Xorshift128,
  identity: number,
  model: ReadonlyMap<string, string>
): readonly StoreItem[] {
  const key = `i${identity}/head`
  const from = Number(model.get(key) ?? 0)
  return Array.from({ length: 1 + (random.uint32() % 2) }, (_, at) => {
    const head = from + at + (random.uint32() % 6 === 0 ? 1 : 0)
    const value = head === 0 ? undefined : bytes(String(head))
    const puts = [put(key, String(head + 1)), put(`i${identity}/${head}`, `${random.uint32()}`)]
    return { condition: { key, value }, puts, deletes: [] }
  })
}

const everything = { gte: '', lt: '\u{10ffff}' }

function entriesOf(model: ReadonlyMap<string, string>): string[] {
  return modelRange(model, everything.gte, everything.lt, false)
}

function randomItem(
  random: Xorshift128,
  key: () => string,
  model: ReadonlyMap<string, string>
): StoreItem {
  const puts = Array.from({ length: random.uint32() % 3 }, () =>
    put(key(), String(random.uint32() % 4))
  )
  const deletes = random.uint32() % 3 === 0 ? [key()] : []
  if (random.uint32() % 2 === 0) return { puts, deletes }
  const name = key()
  const held = random.uint32() % 3 > 0 ? model.get(name) : '0'
  const value = held === undefined ? undefined : bytes(held)
  return { condition: { key: name, value }, puts, deletes }
}

function applyToModel(model: Map<string, string>, item: StoreItem): boolean {
  const { condition } = item
  if (condition !== undefined && model.get(condition.key) !== text(condition.value)) return false
  for (const [key, value] of item.puts) model.set(key, text(value) ?? '')
  for (const key of item.deletes) model.delete(key)
  return true
}

function modelRange(
  model: ReadonlyMap<string, string>,
  gte: string,
  lt: string,
  reverse: boolean
): string[] {
  const compare = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
  const keys = [...model.keys()].filter((key) => compare(key, gte) >= 0 && compare(key, lt) < 0)
  keys.sort(compare)
  if (reverse) keys.reverse()
  return keys.map((key) => `${key}=${model.get(key)}`)
}

/** While a commit is under way, in a driver that awaits little and in one that awaits files. */
export const crashMoments: readonly (() => Promise<void>)[] = [
  ...[0, 1, 2, 3, 5, 8, 13].map((turns) => async () => {
    for (let turn = 0; turn < turns; turn += 1) await undefined
  }),
  nextTurn
]
