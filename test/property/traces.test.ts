import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import type { JsonObject } from '../../src/core/index.js'
import type { DeliveredEvent, Registrations, TraceOption } from '../../src/runtime/index.js'
import { Machine } from '../support/lives.js'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'
const traces: readonly (TraceOption | undefined)[] = [
  undefined,
  { traceId },
  { traceId, spanId },
  `00-${traceId}-${spanId}-01`
]

/** Sees its trace, does something outside and asks a person; the trace is no part of that. */
const act = (seen: unknown[]) =>
  defineBlock({
    name: 'act',
    version: '1.0.0',
    sideEffects: 'idempotent',
    intents: ['act.now'],
    run: async (ctx) => {
      seen.push({ ...ctx.trace })
      const { key } = await ctx.effect('do', { perform: (call) => ({ key: call.key }) })
      await ctx.wait({ reason: 'external', request: { key } })
      return { key, random: ctx.random() }
    }
  })
const note = defineBlock({
  name: 'note',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['note.now'],
  run: (ctx) => ({ unit: ctx.unitId })
})
const document: JsonObject = {
  schema: 'tally-composite/1',
  name: 'acts',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block: 'act' } }
}

/** The same work with a trace: parked, resumed by a retry with another trace, and ended. */
async function play(trace: TraceOption | undefined) {
  const seen: unknown[] = []
  const events: DeliveredEvent[] = []
  const registrations: Registrations = { blocks: [act(seen), note] }
  const machine = new Machine()
  const given = trace === undefined ? {} : { trace }
  const first = await machine.open(registrations)
  first.events.on('event', (event) => events.push(event))
  for await (const { type } of first.begin(document, { id: 'r', ...given })) {
    if (type === 'run.parked') break
  }
  await first.close()
  const second = await machine.open(registrations)
  second.events.on('event', (event) => events.push(event))
  const run = second.begin(document, { id: 'r', trace: { traceId: 'f'.repeat(32) } })
  let shown: unknown
  for await (const event of run) {
    if (event.type !== 'waiting') continue
    const { token, digest } = event
    shown = { token, digest }
    await run.resume(token, { digest, value: null })
  }
  const { response } = await run.result
  // After the run: random numbers follow from the receipt before, which has the trace.
  const { receipt: _noted, ...noted } = (await second.intent({
    action: 'note.now',
    id: 'n',
    ...given
  })) as { readonly receipt?: unknown }
  expect(noted).toMatchObject({ type: 'dapp' })
  const hashes: unknown[] = []
  const recorded: unknown[] = []
  for await (const { receipt } of second.receipts()) {
    const { id, sealed, seed, payload, run: place } = receipt.inputPayload
    const hash = { sealed, seed: id === undefined ? undefined : seed.base === 'GENESIS', payload }
    const { journalHash: _, receipts: __, ...told } = { ...(payload as JsonObject) }
    hashes.push([id, hash.sealed, told, receipt.resultHash, { ...place, trace: undefined }])
    recorded.push(place?.trace)
  }
  const { ok, failure } = await second.replay()
  await second.close()
  return { seen, events, recorded, same: { shown, response, hashes }, ok, failure }
}

describe('the trace of a caller', () => {
  it('B1, L6: reaches blocks, events and receipts, and no id, request or result', async () => {
    const [none, ...others] = await Promise.all(traces.map(play))
    expect(none).toMatchObject({ ok: true, same: { response: { success: true } } })
    expect(none?.recorded).toEqual([undefined, undefined, undefined])
    expect(none?.events.some((event) => 'trace' in event)).toBe(false)
    for (const [index, other] of others.entries()) {
      const trace = index === 0 ? { traceId } : { traceId, spanId }
      expect(other.failure).toBeUndefined()
      expect(other.ok).toBe(true)
      expect(other.same).toEqual(none?.same)
      expect(other.recorded).toEqual([trace, trace, trace])
      const told = other.events.filter(({ type }) => /^(block|run\.(started|finished))/.test(type))
      expect(told.length).toBeGreaterThan(4)
      for (const event of told) expect(event).toMatchObject({ trace })
      for (const one of other.seen) expect(one).toMatchObject({ traceId, spanId: 'root/a:1' })
      expect(other.seen.length).toBeGreaterThan(1)
    }
  })

  it('B1: is refused when it is not of W3C Trace Context', async () => {
    const tally = await new Machine().open({ blocks: [note] })
    const wrong: readonly TraceOption[] = [
      { traceId: '0'.repeat(32) },
      { traceId: traceId.toUpperCase() },
      { traceId, spanId: '1' },
      '',
      `00-${traceId}-${spanId}`,
      `00-${traceId}-${spanId}-01-more`,
      `ff-${traceId}-${spanId}-01`
    ]
    for (const trace of wrong) {
      expect(() => tally.begin(document, { trace }), JSON.stringify(trace)).toThrowError(/trace/)
    }
    await tally.close()
  })
})
