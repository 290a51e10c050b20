import { deepEqual, equal, ok, rejects, throws } from 'node:assert/strict'
import { isTallyError } from '../../core/index.js'
import type { Store, StoreItem } from '../../ledger/index.js'
import { type ConformanceCheck, type ConformanceOptions, runCheck } from './check.js'
import { type StoreDriver, Stores } from './store-driver.js'
import { agree, agreeAtOnce, crashMoments } from './store-histories.js'
import { bytes, collect, put, text, texts } from './store-values.js'

/** One check of {@link storeConformance}. */
export type StoreCheck = ConformanceCheck<StoreDriver>

/**
 * The suite that every driver of the store port passes. Run each check under the test runner of
 * your choice: `for (const check of storeConformance) it(check.name, () => check.run(driver))`.
 */
export const storeConformance: readonly StoreCheck[] = [
  check('reads what was committed, and undefined for what was not', readsBack),
  check('S1: an item is all or nothing: puts first, then deletes', appliesItems),
  check('S1: a committed value is there after closing and opening', survivesReopening),
  check('S1: a crash leaves what was acknowledged, and no commit in part', survivesCrash),
  check('S2: commits apply in the order of the calls', keepsOrder),
  check('S3: an item whose condition fails is left out alone', checksConditions),
  check('S3: a condition sees the items before its own', checksWithinCommit),
  check('S3: two writers racing for one condition have one winner', letsOneWin),
  check('S3: identities that commit at once each keep a chain of their own', (stores) =>
    agreeAtOnce(stores, 1)
  ),
  check('S4: a read sees what was acknowledged, bytes of its own', ownsBytes),
  check('ranges are half-open, ordered by UTF-8 bytes, limited and reversible', ranges),
  check('a range is a snapshot of the moment of the call', snapshots),
  check('a range of many pages is complete', pages),
  check('empty values, large values and unusual keys are kept', unusual),
  check('compact changes nothing that can be read', compacts),
  check('a closed store refuses everything with store.closed', closes),
  check('agrees with a plain map over a random history', (stores) => agree(stores, 1))
]

/** Runs `steps` random operations against the driver and a plain map; rejects where they differ. */
export function agrees(
  driver: StoreDriver,
  seed: number,
  steps?: number,
  options: ConformanceOptions = {}
): Promise<void> {
  return runCheck(`agrees, seed ${seed}`, options, (opened) =>
    agree(new Stores(driver, opened), seed, steps)
  )
}

/**
 * Lets several identities commit at once, each on a head of its own, some on one that has passed:
 * every commit comes out as in a plain map that takes them in the order of the calls, and a crash
 * leaves them up to one of them, no earlier than the last that was acknowledged.
 */
export function agreesAtOnce(
  driver: StoreDriver,
  seed: number,
  options: ConformanceOptions = {}
): Promise<void> {
  return runCheck(`agrees at once, seed ${seed}`, options, (opened) =>
    agreeAtOnce(new Stores(driver, opened), seed)
  )
}

function check(name: string, act: (stores: Stores) => Promise<void>): StoreCheck {
  return {
    name,
    run: (driver, options = {}) =>
      runCheck(name, options, (opened) => act(new Stores(driver, opened)))
  }
}

async function readsBack(stores: Stores): Promise<void> {
  const store = await stores.create()
  equal(store.get('a'), undefined)
  deepEqual(await store.commit([{ puts: [put('a', '1')], deletes: [] }]), [true])
  equal(text(store.get('a')), '1')
  equal(store.get('b'), undefined)
  deepEqual(await store.commit([]), [])
}

async function appliesItems(stores: Stores): Promise<void> {
  const store = await stores.create()
  await store.commit([{ puts: [put('a', '1'), put('b', '1')], deletes: [] }])
  await store.commit([{ puts: [put('a', '2'), put('a', '3'), put('b', '2')], deletes: ['b', 'c'] }])
  equal(text(store.get('a')), '3')
  equal(store.get('b'), undefined)
}

async function survivesReopening(stores: Stores): Promise<void> {
  const first = await stores.create()
  await first.commit([{ puts: [put('a', '1'), put('b', '2')], deletes: [] }])
  await first.commit([{ puts: [], deletes: ['a'] }])
  const second = await stores.reopened(first)
  if (second === undefined) return
  equal(second.get('a'), undefined)
  equal(text(second.get('b')), '2')
}

async function survivesCrash(stores: Stores): Promise<void> {
  const keys = ['a', 'b', 'c', 'd']
  const allAre = (value: string) => keys.map((key) => ({ puts: [put(key, value)], deletes: [] }))
  for (const moment of crashMoments) {
    const first = await stores.create()
    await first.commit(allAre('1'))
    const under = first.commit(allAre('2')).catch(() => undefined)
    await moment()
    const second = await stores.crashed(first)
    if (second === undefined) return
    const found = keys.map((key) => text(second.get(key))).join('')
    ok(['1111', '2222'].includes(found), `a commit under way is in part there: ${found}`)
    await second.commit(allAre('3'))
    const third = await stores.crashed(second)
    equal(text(third?.get('a')), '3')
    await under
  }
}

async function keepsOrder(stores: Stores): Promise<void> {
  const store = await stores.create()
  const writes = Array.from({ length: 50 }, (_, at) =>
    store.commit([{ puts: [put('a', String(at)), put(`k${at}`, '')], deletes: [] }])
  )
  await writes[10]
  for (let at = 0; at <= 10; at += 1) ok(store.get(`k${at}`) !== undefined)
  await Promise.all(writes)
  equal(text(store.get('a')), '49')
}

async function checksConditions(stores: Stores): Promise<void> {
  const store = await stores.create()
  const absent = { key: 'head', value: undefined }
  deepEqual(await store.commit([{ condition: absent, puts: [put('head', '1')], deletes: [] }]), [
    true
  ])
  deepEqual(
    await store.commit([
      { condition: absent, puts: [put('head', 'x'), put('lost', 'x')], deletes: [] },
      { condition: { key: 'head', value: bytes('2') }, puts: [], deletes: ['head'] },
      { condition: { key: 'head', value: bytes('1') }, puts: [put('kept', 'x')], deletes: [] },
      { puts: [put('free', 'x')], deletes: [] }
    ]),
    [false, false, true, true]
  )
  equal(text(store.get('head')), '1')
  equal(store.get('lost'), undefined)
  equal(text(store.get('kept')), 'x')
  equal(text(store.get('free')), 'x')
}

async function checksWithinCommit(stores: Stores): Promise<void> {
  const store = await stores.create()
  const applied = await store.commit([
    { puts: [put('a', '1')], deletes: [] },
    { condition: { key: 'a', value: bytes('1') }, puts: [put('a', '2')], deletes: [] },
    { condition: { key: 'a', value: bytes('1') }, puts: [put('a', '3')], deletes: [] },
    { condition: { key: 'a', value: bytes('2') }, puts: [], deletes: ['a'] },
    { condition: { key: 'a', value: undefined }, puts: [put('b', '')], deletes: [] }
  ])
  deepEqual(applied, [true, true, false, true, true])
  equal(store.get('a'), undefined)
  equal(text(store.get('b')), '')
}

async function letsOneWin(stores: Stores): Promise<void> {
  const store = await stores.create()
  const results = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      store.commit([
        { condition: { key: 'head', value: undefined }, puts: [put('head', `${at}`)], deletes: [] }
      ])
    )
  )
  deepEqual(results.flat(), [true, ...Array.from({ length: 7 }, () => false)])
  equal(text(store.get('head')), '0')
}

async function ownsBytes(stores: Stores): Promise<void> {
  const store = await stores.create()
  const value = bytes('abc')
  await store.commit([{ puts: [['a', value]], deletes: [] }])
  value.fill(0)
  equal(text(store.get('a')), 'abc')
  store.get('a')?.fill(0)
  equal(text(store.get('a')), 'abc')
}

async function ranges(stores: Stores): Promise<void> {
  const store = await stores.create()
  const keys = ['a', 'a!', 'aa', 'b', 'é', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}']
  const puts = keys.toReversed().map((key) => put(key, ''))
  await store.commit([{ puts, deletes: [] }])
  const all = { gte: '', lt: '\u{10ffff}' }
  const list = async (range: Parameters<Store['entries']>[0]) =>
    (await texts(store, range)).map((entry) => entry.slice(0, -1))
  deepEqual(await list(all), keys.slice(0, -1))
  deepEqual(await list({ ...all, reverse: true }), keys.slice(0, -1).reverse())
  deepEqual(await list({ ...all, limit: 2 }), ['a', 'a!'])
  deepEqual(await list({ ...all, reverse: true, limit: 1 }), ['\u{10000}'])
  deepEqual(await list({ ...all, limit: 0 }), [])
  deepEqual(await list({ gte: 'a!', lt: 'b' }), ['a!', 'aa'])
  deepEqual(await list({ gte: 'b', lt: 'a' }), [])
  deepEqual(await list({ gte: 'aa', lt: 'aa' }), [])
}

async function snapshots(stores: Stores): Promise<void> {
  const store = await stores.create()
  await store.commit([{ puts: [put('a', '1'), put('b', '1')], deletes: [] }])
  const entries = store.entries({ gte: 'a', lt: 'z' })
  await store.commit([{ puts: [put('b', '2'), put('c', '2')], deletes: ['a'] }])
  deepEqual(await collect(entries), ['a=1', 'b=1'])
  deepEqual(await texts(store, { gte: 'a', lt: 'z' }), ['b=2', 'c=2'])
}

async function pages(stores: Stores): Promise<void> {
  const store = await stores.create()
  const names = Array.from({ length: 2_500 }, (_, at) => `k${String(at).padStart(5, '0')}`)
  await store.commit(names.map((name) => ({ puts: [put(name, name)], deletes: [] })))
  const expected = names.map((name) => `${name}=${name}`)
  deepEqual(await texts(store, { gte: 'k', lt: 'l' }), expected)
  for await (const [key] of store.entries({ gte: 'k', lt: 'l' })) {
    equal(key, names[0])
    break
  }
}

async function unusual(stores: Stores): Promise<void> {
  const store = await stores.create()
  const large = Buffer.alloc(300_000, 7)
  const puts: StoreItem['puts'] = [
    ['empty', Buffer.alloc(0)],
    ['large', large],
    ['nul', bytes('before the nul')],
    ['nul\u0000', bytes('nul')],
    ['nul\u0000key', bytes('after the nul')],
    ['new\nline', bytes('line')],
    ['\u{1f600}'.repeat(200), bytes('long')],
    ['binary', Uint8Array.of(0, 255, 128, 10)]
  ]
  await store.commit([{ puts, deletes: [] }])
  for (const [key, value] of puts) {
    const found = store.get(key)
    ok(found !== undefined && Buffer.compare(found, value) === 0, JSON.stringify(key))
  }
  const listed = await texts(store, { gte: '', lt: '\u{10ffff}' })
  equal(listed.length, puts.length)
}

async function compacts(stores: Stores): Promise<void> {
  const store = await stores.create()
  await store.commit([{ puts: [put('a', '1'), put('b', '2')], deletes: [] }])
  await store.commit([{ puts: [], deletes: ['a'] }])
  await store.compact()
  deepEqual(await texts(store, { gte: '', lt: 'z' }), ['b=2'])
}

async function closes(stores: Stores): Promise<void> {
  const store = await stores.create()
  const pending = store.commit([{ puts: [put('a', '1')], deletes: [] }])
  await stores.close(store)
  deepEqual(await pending, [true])
  throws(() => store.get('a'), isClosed)
  throws(() => store.entries({ gte: 'a', lt: 'b' }), isClosed)
  await rejects(store.commit([{ puts: [put('a', '2')], deletes: [] }]), isClosed)
  await rejects(store.compact(), isClosed)
}

function isClosed(error: unknown): boolean {
  return isTallyError(error, 'store.closed')
}
