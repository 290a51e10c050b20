import { describe, expect, it } from 'vitest'
import { isTallyError, type Json, type RunId } from '../../../../src/core/index.js'
import { agentNamed, mayAnswer, refuseAgent } from '../../../../src/runtime/gate/agents.js'

/** K13: which waits a program may answer, by who started the run and what it waits for. */

type Parts = Parameters<typeof refuseAgent>[0]
type Wait = ReturnType<Parts['runs']['waits']>[number]

const reasons = [
  'permission',
  'confirmation',
  'decision',
  'poll',
  'retry',
  'external',
  'integrity'
] as const
const waitFor = (reason: Wait['reason'], token: string, actions: Wait['actions'] = ['resume']) =>
  ({ actions, reason, token }) as Wait

/** How an agent `planner` is answered that answers the wait `t` of a run. */
function outcome(started: { readonly [name: string]: Json } | undefined, waits: readonly Wait[]) {
  const id = 'one' as RunId
  const run = started && ({ started } as unknown as ReturnType<Parts['ledger']['run']>)
  const parts: Parts = {
    ledger: { run: (asked) => (asked === id ? run : undefined) },
    runs: { waits: (asked) => (asked === id ? waits : []) }
  }
  try {
    refuseAgent(parts, { id, token: 't', agent: 'planner' })
    return 'accepted'
  } catch (error) {
    return isTallyError(error) ? `${error.code}: ${error.context['problem']}` : error
  }
}

const refused = (problem: string) => `service.agent_refused: ${problem}`
const owned = { principal: { kind: 'owner', id: 'o' } }

describe('an agent that answers a wait', () => {
  it('K13: is named by its entry point as an agent', () => {
    expect(agentNamed('planner')).toEqual({ kind: 'agent', id: 'planner' })
  })

  it('K13: may answer a question or an event, and nothing else', () => {
    const may = reasons.filter((reason) => mayAnswer({ actions: ['resume'], reason }))
    expect(may).toEqual(['confirmation', 'external'])
    for (const reason of reasons) {
      const asked = outcome(owned, [waitFor('retry', 's'), waitFor(reason, 't')])
      const problem = `a wait for ${reason} is answered by the owner or an approver`
      expect(asked).toBe(may.includes(reason) ? 'accepted' : refused(problem))
    }
    const signal = outcome(owned, [waitFor('external', 't', ['signal'])])
    expect(signal).toBe(refused('a wait for a signal is answered by the owner or an approver'))
  })

  it.each([
    { kind: 'owner', id: 'planner' },
    { kind: 'agent', id: 'other' },
    { kind: 'peer', id: 'planner' },
    { kind: 'package', id: 'planner' }
  ])('K13: may answer in a run that $kind $id has started', (principal) => {
    expect(outcome({ principal }, [waitFor('external', 't')])).toBe('accepted')
  })

  it('K13: may not answer in a run that it started itself', () => {
    const started = { principal: { kind: 'agent', id: 'planner' } }
    expect(outcome(started, [waitFor('external', 't')])).toBe(refused('it started the run itself'))
  })

  it.each([undefined, {}, { principal: null }, { principal: 'owner' }, { principal: ['agent'] }])(
    'K13: may not answer in a run of which the starter is not known: %j',
    (started) => {
      expect(outcome(started, [waitFor('external', 't')])).toBe(refused('the run names no starter'))
    }
  )

  it('K13: may not answer a wait that is not open', () => {
    for (const waits of [[], [waitFor('external', 's')]]) {
      expect(outcome(owned, waits)).toBe(refused('there is no open wait with this token'))
    }
  })
})
