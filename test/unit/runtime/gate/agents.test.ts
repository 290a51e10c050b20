import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { isTallyError, type Json } from '../../../../src/core/index.js'
import {
  createRuntime,
  MEMORY_LOCATION,
  type RunView,
  type WiredRuntime
} from '../../../../src/runtime/index.js'

/** K13: what a program may do in its own name. */

const asking = (reason: 'permission' | 'confirmation' | 'external') =>
  defineBlock({
    name: `ask.${reason}`,
    version: '1',
    sideEffects: 'none',
    run: async (ctx) => ({ ...(await ctx.wait({ reason, request: { what: reason } })) })
  })

let tally: WiredRuntime
beforeEach(async () => {
  const blocks = [asking('permission'), asking('confirmation'), asking('external')]
  tally = await createRuntime({ location: MEMORY_LOCATION, create: 'if-absent', blocks })
})
afterEach(() => tally.close())

function request(method: string, params: Json): Promise<Json> {
  const { signal } = new AbortController()
  return tally.service({ method, params, signal }) as Promise<Json>
}

/**
 * Starts a run that waits, in the name of a principal; gives the answer that would end its wait.
 */
async function waiting(options: { readonly reason: string; readonly agent?: string }) {
  const { reason, agent } = options
  const id = `run-${reason}-${agent ?? 'owner'}`
  const schema = 'tally-composite/1'
  const nodes = { first: { block: `ask.${reason}` } }
  const document = { schema, name: 'ask', version: '1', entry_point: 'first', nodes }
  const params = {
    id,
    document: JSON.stringify(document),
    ...(agent === undefined ? {} : { agent })
  }
  const { signal } = new AbortController()
  const events = tally.service({ method: 'run', params, signal }) as AsyncIterable<Json>
  for await (const event of events) expect(event).toBeDefined()
  const view = (await request('show', { id })) as unknown as RunView
  const [wait] = view.waits
  expect(view.status).toBe('waiting')
  const action = reason === 'external' ? 'resume' : 'approve'
  return { id, token: wait?.token ?? '', digest: wait?.digest ?? '', action }
}

async function codeOf(ending: Promise<unknown>): Promise<string> {
  const error = await ending.then(
    () => undefined,
    (thrown: unknown) => thrown
  )
  return isTallyError(error) ? `${error.code}: ${error.message}` : 'accepted'
}

describe('an agent', () => {
  it.each(['confirmation', 'external'])(
    'K13: answers a wait for %s that others caused',
    async (reason) => {
      const answer = await waiting({ reason })
      const outcome = await request('message', { ...answer, agent: 'reviewer' })
      expect(outcome).toMatchObject({ accepted: true })
      const lines: Json[] = []
      for await (const entry of tally.journal(answer.id))
        lines.push(JSON.parse(JSON.stringify(entry)))
      expect(JSON.stringify(lines)).toContain('{"id":"reviewer","kind":"agent"}')
    }
  )

  it('K13: answers no wait of a run that it started', async () => {
    const principal = { kind: 'agent', id: 'planner' }
    const payload = { principal, subject: 'ask.external' }
    expect(await tally.intent({ action: 'system.grant', payload })).toMatchObject({ type: 'dapp' })
    const answer = await waiting({ reason: 'external', agent: 'planner' })
    expect(await codeOf(request('message', { ...answer, agent: 'planner' }))).toContain(
      'service.agent_refused: The agent planner may not answer this wait: it started the run itself'
    )
    expect(await request('message', { ...answer, agent: 'reviewer' })).toMatchObject({
      accepted: true
    })
  })

  it('K13: grants nothing', async () => {
    const answer = await waiting({ reason: 'permission' })
    expect(await codeOf(request('message', { ...answer, agent: 'reviewer' }))).toContain(
      'a wait for permission is answered by the owner or an approver'
    )
  })

  it('K13: answers nothing that it does not name rightly', async () => {
    const answer = await waiting({ reason: 'external' })
    const wrong = { ...answer, agent: 'reviewer' }
    expect(await codeOf(request('message', { ...wrong, token: 'other' }))).toContain('no open wait')
    expect(await request('message', { ...wrong, digest: '0'.repeat(64) })).toMatchObject({
      accepted: false
    })
    expect(await codeOf(request('message', { ...wrong, id: 'nothing' }))).toContain('service.agent')
  })
})
