import { createInspector } from '@statelyai/inspect'
import { afterEach, describe, expect, it } from 'vitest'
import type { InspectionEvent } from 'xstate'
import { defineBlock } from '../../../../src/code/index.js'
import type { InspectionMessage } from '../../../../src/inspect/index.js'
import { createRuntime, type Runtime, type RuntimeOptions } from '../../../../src/runtime/index.js'

const SECRET_INPUT = 'account-4711'

const quote = defineBlock({
  name: 'quote',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => {
    const { value } = await ctx.wait({ reason: 'external', request: { what: SECRET_INPUT } })
    return value
  }
})

const hidden = defineBlock({
  name: 'hidden',
  version: '1.0.0',
  sideEffects: 'none',
  private: { input: true },
  run: () => 'kept'
})

const documentOf = (block: string) => ({
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'first',
  nodes: { first: { block } },
  transitions: {}
})

const open: Runtime[] = []

async function opened(options: Partial<RuntimeOptions> = {}): Promise<Runtime> {
  const blocks = [quote, hidden]
  const runtime = await createRuntime({
    location: 'memory:',
    blocks,
    ...options
  })
  open.push(runtime)
  return runtime
}

afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.close()
})

async function answered(tally: Runtime, id: string): Promise<void> {
  const run = tally.begin(documentOf('quote'), { id, inputs: { for: SECRET_INPUT } })
  for await (const event of run) {
    const { type } = event
    if (type === 'waiting') await run.resume(event.token, { value: 7, digest: event.digest })
  }
  await run.result
}

async function messagesOf(tally: Runtime, id: string, payloads = false) {
  const found: InspectionMessage[] = []
  for await (const message of tally.inspection(id, { payloads })) found.push(message)
  return found
}

/** What says the same in an event of XState as in a message. */
function bare(one: InspectionEvent | InspectionMessage): unknown {
  const sessionId = 'sessionId' in one ? one.sessionId : one.actorRef.sessionId
  if (one.type === '@xstate.actor') return [one.type, sessionId]
  if (one.type === '@xstate.event') return [one.type, sessionId, one.event.type]
  if (one.type === '@xstate.snapshot')
    return [one.type, sessionId, one.event.type, (one.snapshot as never)['value']]
  return one
}

describe('runs that are inspected', () => {
  it('are seen live as they are seen afterwards, each in its own order', async () => {
    const seen: InspectionEvent[] = []
    const tally = await opened({ inspect: (event) => seen.push(event) })
    await Promise.all(['one', 'two', 'three'].map((id) => answered(tally, id)))
    const past = new Map<string, unknown[]>()
    for (const id of ['one', 'two', 'three']) past.set(id, (await messagesOf(tally, id)).map(bare))
    await tally.close()
    for (const [id, messages] of past) {
      const live = seen.filter(({ rootId }) => rootId === `${id}/root`)
      expect(live.map(bare)).toEqual(messages)
    }
    expect(seen.length).toBeGreaterThan(30)
  })

  it('are what the inspector of Stately makes of them, unchanged', async () => {
    const sent: InspectionMessage[] = []
    const inspector = createInspector({ send: (message) => sent.push(message as never) })
    const tally = await opened()
    const inspected = tally.inspect(inspector.inspect)
    await answered(tally, 'one')
    const messages = await messagesOf(tally, 'one')
    await tally.close()
    // It converts each event in a timer of its own.
    await expect.poll(() => sent.length).toBe(messages.length)
    expect(sent.map(bare)).toEqual(messages.map(bare))
    const definitions = sent.flatMap((one) =>
      one.type === '@xstate.actor' ? [one.definition] : []
    )
    for (const definition of definitions) expect(JSON.parse(definition)).toHaveProperty('id')
    inspected.unsubscribe()
  })

  it('N3: show no payload unless asked for, and none of a private run', async () => {
    const tally = await opened()
    await answered(tally, 'one')
    expect(JSON.stringify(await messagesOf(tally, 'one'))).not.toContain(SECRET_INPUT)
    expect(JSON.stringify(await messagesOf(tally, 'one', true))).toContain(SECRET_INPUT)
    const run = tally.begin(documentOf('hidden'), { id: 'two', inputs: { for: SECRET_INPUT } })
    await run.result
    expect(JSON.stringify(await messagesOf(tally, 'two', true))).not.toContain(SECRET_INPUT)
  })

  it('are shown no more to an observer that throws, and continue', async () => {
    let given = 0
    const warnings: string[] = []
    const listen = ({ message }: Error) => warnings.push(message)
    process.on('warning', listen)
    const fails = () => {
      given += 1
      throw new Error('no room left')
    }
    const tally = await opened({ inspect: fails })
    await answered(tally, 'one')
    await tally.close()
    await expect.poll(() => warnings).toEqual(['An inspector gets nothing any more: no room left'])
    process.off('warning', listen)
    expect(given).toBe(1)
  })

  it('are no longer shown once the observer has left', async () => {
    let given = 0
    const tally = await opened()
    const { unsubscribe } = tally.inspect({ next: () => (given += 1) })
    unsubscribe()
    await answered(tally, 'one')
    await tally.close()
    expect(given).toBe(0)
  })

  it('are refused for a run that is not there', async () => {
    const tally = await opened()
    await expect(messagesOf(tally, 'nobody')).rejects.toMatchObject({ code: 'run.not_found' })
  })
})
