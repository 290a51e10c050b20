import { describe, expect, it } from 'vitest'
import { defineBlock, defineWorkflow } from '../../../../src/code/index.js'
import type { Json } from '../../../../src/core/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import { openOn } from '../../../support/lives.js'

const echo = defineBlock({
  name: 'echo',
  version: '1.0.0',
  sideEffects: 'none',
  run: (_ctx, input: Json) => input
})

const order: Json = {
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'echo',
  nodes: { echo: { block: 'echo' } }
}
const question = defineBlock({
  name: 'question',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => (await ctx.wait({ reason: 'external' })).value
})
const asking: Json = { ...(order as object), nodes: { echo: { block: 'question' } } }
const open = () => openOn(openMemoryStore(), { blocks: [echo, question] })

describe('starting a run', () => {
  it('L6: resolves with the id, and whether there was such a run before', async () => {
    await using tally = await open()
    const inputs = { item: 'lamp' }
    expect(await tally.start(order, { id: 'a', inputs })).toEqual({ id: 'a', isNew: true })
    expect(await tally.start(order, { id: 'a', inputs })).toEqual({ id: 'a', isNew: false })
    await (await tally.attach('a')).result
    expect(await tally.start(order, { id: 'a', inputs })).toEqual({ id: 'a', isNew: false })
  })

  it('L6: has one new run of many starts at once', async () => {
    await using tally = await open()
    const starts = Array.from({ length: 8 }, () => tally.start(order, { id: 'a' }))
    const isNew = (await Promise.all(starts)).map((started) => started.isNew)
    expect(isNew).toEqual([true, ...Array.from({ length: 7 }, () => false)])
  })

  it('makes an id where none is given', async () => {
    await using tally = await open()
    const { id, isNew } = await tally.start(order)
    expect(isNew).toBe(true)
    expect(tally.run(id)?.runId).toBe(id)
  })

  it('D2: resolves once the start is durable', async () => {
    await using tally = await open()
    const { id } = await tally.start(order)
    expect(tally.ledger.run(id, { durable: true })?.runId).toBe(id)
  })

  it.each<{ readonly what: string; readonly document: Json; readonly inputs: Json }>([
    { what: 'input', document: order, inputs: { item: 'chair' } },
    { what: 'document', document: { ...(order as object), name: 'other' }, inputs: {} }
  ])('L6: rejects an id that stands for another $what', async ({ what, document, inputs }) => {
    await using tally = await open()
    await tally.start(order, { id: 'a' })
    const again = tally.start(document, { id: 'a', inputs })
    await expect(again).rejects.toMatchObject({ code: 'run.id_reused', context: { what } })
  })

  it('B4: rejects an invalid document with its diagnostics, and records nothing', async () => {
    await using tally = await open()
    const document = { ...(order as object), nodes: { echo: { block: 'ecco' } } }
    const error: unknown = await tally.start(document, { id: 'a' }).catch((thrown) => thrown)
    const { response } = await tally.begin(document, { id: 'b' }).result
    expect(error).toMatchObject({ code: 'run.refused', context: { runId: 'a' }, cause: response })
    expect(response).toMatchObject({ success: false, reason: 'invalid_graph' })
    expect(String(error)).toContain('nodes.echo.block: no block is registered as ecco')
    expect(tally.run('a')).toBeUndefined()
    expect(await tally.start(order, { id: 'a' })).toEqual({ id: 'a', isNew: true })
  })

  it.each([
    ['inputs among the options', order, { item: 'lamp' }, 'its options have item, which is none'],
    ['a misspelt option', order, { input: {} }, 'its options have input, which is none'],
    ['options that are none', order, 'lamp', 'its options are no object'],
    ['a block', echo, {}, 'the block echo is no document: name it in a node, or in a step of code']
  ])('rejects %s, and records nothing', async (_, source, options, problem) => {
    await using tally = await open()
    const started = tally.start(source as Json, options as object)
    await expect(started).rejects.toMatchObject({
      code: 'run.invalid_options',
      context: { problem }
    })
    expect(() => tally.begin(source as Json, options as object)).toThrow(problem)
    expect(tally.status().receipts).toBe(0)
    for await (const _run of tally.ledger.runs()) throw new Error('a run was begun')
  })

  it('rejects options of a document for a workflow in code', async () => {
    const run = async (_ctx: unknown, input: unknown) => input as Json
    const workflow = defineWorkflow({ name: 'code', version: '1.0.0', run })
    await using tally = await openOn(openMemoryStore(), { workflows: [workflow] })
    const options = { inputs: { item: 'lamp' } } as object
    await expect(tally.start(workflow, {}, options)).rejects.toThrow('its options have inputs')
    expect((await tally.start(workflow, {}, { id: 'a' })).isNew).toBe(true)
    await (await tally.attach('a')).result
  })

  it('rejects, and does not throw, what cannot be a run', async () => {
    await using tally = await open()
    const invalid = tally.start(order, { id: 'a b' })
    await expect(invalid).rejects.toMatchObject({ code: 'run.invalid_id' })
  })

  it('is taken for no promise: an async function may return the handle', async () => {
    await using tally = await open()
    const begin = async () => tally.begin(order, { id: 'a' })
    const run = await begin()
    expect('then' in run).toBe(false)
    expect((await run.result).status).toBe('done')
  })
})

describe('the result of a handle', () => {
  it('is there for a caller that asks for it after the run has ended', async () => {
    await using tally = await open()
    const run = tally.begin(order, { inputs: { item: 'lamp' } })
    for await (const { type } of run) if (type === 'run.finished') break
    expect(await run.result).toMatchObject({ status: 'done', response: { success: true } })
    expect(run.result).toBe(run.result)
  })

  it('rejects for a caller that asks for it after its process has closed', async () => {
    const tally = await open()
    const run = tally.begin(asking)
    for await (const { type } of run) if (type === 'waiting') break
    await tally.close()
    await expect(run.result).rejects.toMatchObject({ code: 'run.interrupted' })
  })
})
