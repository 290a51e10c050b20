import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import type { Json } from '../../../../src/core/index.js'
import { createRuntime, type WiredRuntime } from '../../../../src/runtime/index.js'

const ask = defineBlock({
  name: 'ask',
  version: '1',
  sideEffects: 'none',
  run: async (ctx) => (await ctx.wait({ reason: 'external', request: { what: 'it' } })).value
})

const document = `schema: tally-composite/1
name: one
version: "1"
entry_point: first
nodes:
  first:
    block: ask
`

let tally: WiredRuntime
beforeEach(async () => {
  tally = await createRuntime({ location: 'memory:', blocks: [ask] })
})
afterEach(() => tally.close())

const { signal } = new AbortController()

async function request(method: string, params: Json = {}): Promise<Json> {
  const answer = tally.service({ method, params, signal })
  if (Symbol.asyncIterator in answer) throw new Error(`${method} is a stream`)
  return answer
}

async function stream(method: string, params: Json = {}): Promise<readonly Json[]> {
  const answer = tally.service({ method, params, signal })
  if (!(Symbol.asyncIterator in answer)) throw new Error(`${method} is no stream`)
  const events: Json[] = []
  for await (const event of answer) events.push(event)
  return events
}

interface Wait {
  readonly token: string
  readonly digest: string
}

async function startRun(id: string): Promise<Wait> {
  const events = await stream('run', { id, document })
  const parked = events.at(-1) as { readonly waits: readonly [Wait] } & Json
  expect(parked).toMatchObject({ type: 'run.parked' })
  return parked.waits[0]
}

describe('the service', () => {
  it('refuses unknown methods, unknown parameters and wrong types', async () => {
    expect(() => tally.service({ method: 'toString', params: {}, signal })).toThrow('toString')
    const invalid = { code: 'service.invalid_params' }
    await expect(request('status', { more: 1 })).rejects.toMatchObject(invalid)
    await expect(request('status', [])).rejects.toMatchObject(invalid)
    await expect(request('show', {})).rejects.toMatchObject(invalid)
    await expect(request('show', { id: 7 })).rejects.toMatchObject(invalid)
    await expect(request('receipt', { index: -1 })).rejects.toMatchObject(invalid)
    await expect(request('verify', { notes: [{ source: 'x' }] })).rejects.toMatchObject(invalid)
    await expect(stream('receipts', { from: 0.5 })).rejects.toMatchObject(invalid)
  })

  it('K16: has short errors where it throws at once, however long the names of a request', () => {
    const long = 'x'.repeat(1_000_000)
    const answer = { id: 'r', token: 't', digest: 'd', action: 'resume', path: '/', document }
    const methods = ['run', 'exporting', 'resume', 'answer', 'events', 'verifying', 'feed', 'runs']
    const given = [{ ...answer, [long]: 1 }, { ...answer, action: long }, { agent: long }]
    const errors: unknown[] = []
    for (const method of [long, ...methods]) {
      for (const params of [...given, long]) {
        try {
          tally.service({ method, params, signal })
        } catch (error) {
          errors.push(error)
        }
      }
    }
    expect(errors.length).toBeGreaterThan(10)
    expect(errors.filter((error) => `${JSON.stringify(error)}${error}`.length > 2_000)).toEqual([])
    expect(`${errors[0]}`).toContain('no method of 1000000 characters')
  })

  it('gives of a journal as many entries as are asked for', async () => {
    await startRun('bounded')
    const all = await stream('journal', { id: 'bounded' })
    expect(await stream('journal', { id: 'bounded', limit: 0 })).toEqual([])
    expect(await stream('journal', { id: 'bounded', from: 1, limit: 2 })).toEqual(all.slice(1, 3))
    expect(await stream('journal', { id: 'bounded', limit: 99 })).toEqual(all)
  })

  it('B3: runs a document up to its wait, and an answer ends it', async () => {
    const { token, digest } = await startRun('a')
    const answer = { id: 'a', token, digest, action: 'resume', value: { x: 1 }, by: 'me' }
    const events = await stream('answer', answer)
    expect(events.at(-1)).toMatchObject({
      type: 'run.finished',
      status: 'done',
      response: { data: { x: 1 } }
    })
    expect(await request('show', { id: 'a' })).toMatchObject({ status: 'done', waits: [] })
    expect(await stream('runs')).toMatchObject([{ id: 'a', status: 'done' }])
  })

  it('K13: the principal is the owner, and the name of who answers a claim', async () => {
    const { token, digest } = await startRun('b')
    await stream('answer', { id: 'b', token, digest, action: 'resume', by: 'mallory' })
    const journal = JSON.stringify(await stream('journal', { id: 'b' }))
    expect(journal).toContain('{"claimed":"mallory","id":"local","kind":"owner"}')
  })

  it('W7: a refused answer changes nothing, not even whether the run is parked', async () => {
    const { token, digest } = await startRun('c')
    const before = await stream('journal', { id: 'c' })
    const refused = { code: 'run.answer_refused' }
    const other = { id: 'c', token, digest: '0'.repeat(64), action: 'resume' }
    await expect(stream('answer', other)).rejects.toMatchObject(refused)
    await expect(
      stream('answer', { id: 'c', token: 'none', digest, action: 'resume' })
    ).rejects.toMatchObject(refused)
    await expect(
      stream('answer', { id: 'c', token, digest, action: 'skip' })
    ).rejects.toMatchObject(refused)
    expect(await stream('journal', { id: 'c' })).toEqual(before)
    expect(await request('show', { id: 'c' })).toMatchObject({ status: 'waiting' })
  })

  it('L6: the same id gives the first result with its receipt, and refuses other inputs', async () => {
    const { token, digest } = await startRun('d')
    const [first] = (await stream('answer', { id: 'd', token, digest, action: 'resume' })).slice(-1)
    const [again] = (await stream('run', { id: 'd', document })).slice(-1)
    expect(again).toEqual(first)
    await expect(stream('run', { id: 'd', document, inputs: { y: 1 } })).rejects.toMatchObject({
      code: 'run.id_reused'
    })
  })

  it('tells why a document was refused, and records nothing', async () => {
    const bad = document.replace('block: ask', 'block: none')
    const events = await stream('run', { id: 'e', document: bad })
    expect(events).toMatchObject([{ type: 'run.finished', response: { reason: 'invalid_graph' } }])
    await expect(request('show', { id: 'e' })).rejects.toMatchObject({ code: 'run.not_found' })
    expect(await request('lint', { document: bad })).toMatchObject({
      diagnostics: [{ reason: 'unknown_block' }]
    })
  })

  it('shows receipts, verifies and signs notes', async () => {
    const { token, digest } = await startRun('f')
    await stream('answer', { id: 'f', token, digest, action: 'resume' })
    const [last] = await stream('receipts', { last: 1 })
    const { index } = last as { readonly index: number } & Json
    expect(await request('receipt', { index })).toEqual(last)
    expect(await request('verify', { replay: true })).toMatchObject({ ok: true, receipts: 2 })
    expect(await request('note')).toMatchObject({ note: expect.stringContaining('state-root') })
    await expect(request('receipt', { index: 99 })).rejects.toMatchObject({
      code: 'receipt.not_found'
    })
  })

  it('ends a run that waits', async () => {
    await startRun('g')
    expect(await request('cancel', { id: 'g' })).toMatchObject({ status: 'cancelled' })
    const events = await stream('events', { id: 'g' })
    expect(events).toMatchObject([{ type: 'run.finished', status: 'cancelled' }])
  })
})
