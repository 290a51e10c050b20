import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import { isJsonObject, type Json, type JsonObject } from '../../src/core/index.js'
import { wrapValue } from '../../src/ledger/envelope.js'
import { holdStore, importSnapshot, openMemoryStore, repairLedger } from '../../src/ledger/index.js'
import { createRuntime, openReader, verifyLocation } from '../../src/runtime/index.js'
import { cases, testMs } from '../support/effort.js'
import { documentOf, temporaryDirectory } from '../support/snapshots.js'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
beforeEach(async () => {
  place = await temporaryDirectory('field-names')
})
afterEach(() => place.remove())

/** Members of receipts, evidence, journal entries, heads, watermarks, and lines of snapshots. */
const names = [
  ...['capabilitiesDeclared', 'capabilitiesUsed', 'dappId', 'identity', 'inputHash'],
  ...['inputPayload', 'intent', 'nextStateRoot', 'previousReceiptHash', 'previousStateRoot'],
  ...['publicKey', 'receiptHash', 'resultHash', 'signature', 'timestamp', 'version'],
  ...['code', 'details', 'evidenceHash', 'head', 'journalHash', 'landed', 'type'],
  ...['action', 'id', 'payload', 'principal', 'provider', 'raw', 'run', 'sealed', 'seed'],
  ...['at', 'base', 'definition', 'k', 'n', 'name', 'status', 'body', 'salt', 'responseHash'],
  ...['epoch', 'leaves', 'receipts', 'seq', 'started', 'last', 'visits', 'upTo', 'digest'],
  ...['commit', 'key', 'state', 'blob', 'open', 'sha256', 'note', 'counts', 'proof', 'newPublicKey']
]
const hash = 'ab'.repeat(32)
const texts = [
  ...['x', '', hash, hash + hash, 'run.started', 'run.finished', 'sealed', 'running', 'GENESIS'],
  ...['system.key.rotate', 'failure', '{', '}', '"', '\\', '\n', `\nR{"receiptHash":"${hash}"}`],
  ...names.map((name) => `"${name}":"${hash}"`),
  ...names.map((name) => `","${name}":"${hash}",`),
  ',"version":1}',
  `"timestamp":1,"version":1}\nE{}`
]
const values = fc.letrec<{ value: Json; object: Json }>((tie) => ({
  object: fc.dictionary(fc.constantFrom(...names), tie('value'), {
    maxKeys: 5
  }) as fc.Arbitrary<Json>,
  value: fc.oneof(
    { maxDepth: 3 },
    { weight: 4, arbitrary: fc.constantFrom(...texts) },
    fc.constantFrom<Json[]>(null, true, 0, 1, 1_700_000_000),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object')
  )
}))
const step = fc.record({
  how: fc.constantFrom('nobody', 'keep', 'fail', 'ask', 'leave'),
  name: fc.constantFrom(...names, ...texts.filter((text) => text !== '')),
  value: fc.oneof({ weight: 3, arbitrary: values.object }, values.value),
  length: fc.constantFrom(0, 0, 0, 1_100, 70_000)
})

/** Every name at once in each kind of record: so many that stay in a record, and as a blob. */
const all = (some: readonly string[], value: Json): JsonObject =>
  Object.fromEntries(some.map((name) => [name, value]))
const every = [0, 20, 40, 60].flatMap((from) =>
  (['nobody', 'keep', 'fail', 'ask', 'leave'] as const).map((how) => ({
    how,
    name: 'evidenceHash',
    value: { ...all(names.slice(from, from + 20), 'x'), z: from === 60 ? all(names, hash) : 1 },
    length: 0 as const
  }))
)

const blocks = [
  defineBlock({
    name: 'keep',
    version: '1',
    sideEffects: 'none',
    capabilities: ['names'],
    run: async (ctx, input: { readonly name: string; readonly value: Json }) => {
      const answer = await ctx.effect('names', { request: input, perform: () => input.value })
      ctx.state.set(`kept/${input.name}`, answer)
      return { answer, value: input.value }
    }
  }),
  defineBlock({
    name: 'fail',
    version: '1',
    sideEffects: 'none',
    run: (ctx, input: { readonly name: string; readonly value: Json }) =>
      ctx.fail('no_luck', { names: [input.name, input.value] })
  }),
  defineBlock({
    name: 'ask',
    version: '1',
    sideEffects: 'none',
    run: async (ctx, input: Json) => (await ctx.wait({ reason: 'external', request: input })).value
  })
]

it('L12: what callers write is never taken for a member of a record, whatever its names', {
  timeout: testMs(300_000)
}, async () => {
  let n = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
      n += 1
      const location = place.path(`ledger-${n}`)
      const open = { insecurePlaintextKey: true, serve: false, blocks } as const
      let tally = await createRuntime({ location, create: 'if-absent', ...open })
      const ids: string[] = []
      for (const { how, name, value: given, length } of steps) {
        const inputs = { name, value: given, fill: 'f'.repeat(length) }
        if (how === 'nobody') {
          const reply = await tally.intent({
            action: 'nobody.serves',
            payload: isJsonObject(given) ? given : { given }
          })
          expect(reply).toMatchObject({ type: 'error' })
          continue
        }
        const block = how === 'leave' ? 'ask' : how
        const run = tally.begin(documentOf(block), { id: `run-${ids.length}`, inputs })
        ids.push(run.id)
        if (block === 'ask') {
          for await (const event of run) {
            if (event.type !== 'waiting') continue
            const { token, digest } = event
            if (how === 'ask') await run.resume(token, { digest, value: given })
            break
          }
        }
        if (how === 'leave') continue
        expect((await run.result).status).toBe(how === 'fail' ? 'failed' : 'done')
      }
      const path = place.path(`${n}.snapshot`)
      await tally.export({ path })
      await tally.close()
      await holds(location)
      // The next opening folds nothing, and one without derived records folds all.
      await withoutDerived(location)
      tally = await createRuntime({ location, ...open })
      expect(tally.status().mode).toBe('ready')
      expect(await tally.verify()).toMatchObject({ ok: true })
      await tally.close()
      const copy = place.path(`copy-${n}`)
      await importSnapshot(copy, { file: path })
      await holds(copy)
      const reader = await openReader(copy)
      const { signal } = new AbortController()
      for (const id of ids) {
        const shown = (await reader.service({
          method: 'show',
          params: { id },
          signal
        })) as JsonObject
        expect(shown['id']).toBe(id)
      }
      await reader.close()
    }),
    { numRuns: cases({ usual: 4, long: 6, soak: 300 }), examples: [[every]] }
  )
})

/** Verifies, executes again, recovers clean, and recovers into another store by what verifies. */
async function holds(location: string): Promise<void> {
  const report = await verifyLocation(location, { notes: [], code: { blocks } })
  expect(report.failure).toBeUndefined()
  expect(report.ok).toBe(true)
  const held = await holdStore(location)
  try {
    const { store } = held
    const { identity } = report
    expect((await repairLedger({ store, identity })).kind).toBe('clean')
    const target = openMemoryStore()
    const stray = `${identity}/state/stray`
    await store.commit([{ puts: [[stray, wrapValue(stray, '1')]], deletes: [] }])
    const cut = await repairLedger({ store, identity, target })
    expect(cut).toMatchObject({ kind: 'cut', lostCommits: 0, receipts: report.receipts })
    await store.commit([{ puts: [], deletes: [stray] }])
  } finally {
    await held.close()
  }
}

async function withoutDerived(location: string): Promise<void> {
  const held = await holdStore(location)
  const { store } = held
  const keys: string[] = []
  for await (const [key] of store.entries({ gte: '', lt: '~' })) {
    if (/^[0-9a-f]{64}\/(derived$|index|chain|run|visits|page|tile)/.test(key)) keys.push(key)
  }
  await store.commit([{ puts: [], deletes: keys }])
  await held.close()
}
