import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { createRuntime, MEMORY_LOCATION, type RunHandle } from '../../../../src/runtime/index.js'
import { engineCheckpoint } from '../../../../src/workflow/index.js'
import { aisText } from '../../../support/ais.js'
import { TestChain } from '../../../support/ais-chain.js'
import { asset, balance, flow, owner, transfer } from '../../../support/ais-flows.js'

/** What checkpoints say is paused, compared with the waits that the run itself says are open. */

const args = { token: asset, to: owner, amount: { ref: 'inputs.n' } }
const inputs = { n: { type: 'uint256', required: true } }
const polling = {
  until: { cel: 'nodes.poll.outputs.balance > 5' },
  retry: { interval_ms: 1, max_attempts: 2 }
}

interface Story {
  readonly document: JsonObject
  /** Answers by the reason of the wait; one that has none leads to a cancelled run. */
  readonly answers: Readonly<Record<string, JsonObject>>
  readonly status: string
  readonly completed: readonly string[]
}

const cancelled: Story = {
  document: flow([transfer('ask', { args }), transfer('pay')], { inputs }),
  answers: {},
  status: 'cancelled',
  completed: []
}

const stories: Readonly<Record<string, Story>> = {
  'a node that is skipped': {
    document: flow([balance('poll', polling)]),
    answers: { decision: { action: 'skip' } },
    status: 'done',
    completed: ['poll']
  },
  'a run that is aborted': {
    document: flow([balance('poll', polling), balance('done')]),
    answers: { decision: { action: 'abort' } },
    status: 'failed',
    completed: ['done']
  },
  'a confirmation that is denied': {
    document: flow([transfer('pay')]),
    answers: { confirmation: { action: 'deny' } },
    status: 'failed',
    completed: []
  },
  'a run that is cancelled while it is asked': cancelled,
  'a question whose time is over': {
    document: flow([transfer('ask', { args, timeout_ms: 30, on_error: 'stop' })], { inputs }),
    answers: {},
    status: 'failed',
    completed: []
  },
  'a question and a confirmation that are answered': {
    document: flow([transfer('ask', { args })], { inputs }),
    answers: {
      external: { action: 'resume', value: { patches: [{ path: 'inputs.n', value: '3' }] } },
      confirmation: { action: 'approve' }
    },
    status: 'done',
    completed: ['ask']
  }
}

async function played({ document, answers }: Story): Promise<readonly JsonObject[]> {
  const chain = new TestChain({ read: () => ({ balance: '1' }) })
  await using tally = await createRuntime({
    location: MEMORY_LOCATION,
    providers: chain.providers,
    workflow: { protocols: [aisText('erc20')] }
  })
  const run = tally.begin(document, { id: 'one', inputs: {} })
  for await (const event of run) {
    if (event.type === 'run.finished') break
    if (event.type === 'run.parked') await answer(run, answers)
  }
  const entries: JsonObject[] = []
  for await (const { value } of tally.journal('one')) entries.push(value as JsonObject)
  return entries
}

async function answer(run: RunHandle, answers: Story['answers']): Promise<void> {
  const waits = await run.waits()
  // Its own time ends it.
  if (waits.every(({ due }) => due !== null)) return
  const [wait] = waits.filter(({ reason }) => reason in answers)
  if (wait === undefined) return void (await run.cancel('enough'))
  const { token, digest, reason } = wait
  await run.resume(token, { digest, ...answers[reason] } as never)
}

const pausedIn = (entries: readonly Json[]) =>
  Object.keys(engineCheckpoint(entries)['paused_by_node_id'] ?? {}).sort()

function openNodes(entry: JsonObject): readonly string[] {
  const waits = (entry['waits'] ?? []) as readonly { path: string; reason: string }[]
  const open = waits.filter(({ reason }) => reason !== 'poll' && reason !== 'retry')
  return [...new Set(open.map(({ path }) => path.slice('root/'.length)))].sort()
}

describe('checkpoints of AIS', () => {
  it.each(Object.entries(stories))('pause what the run waits for: %s', async (_name, story) => {
    const entries = await played(story)
    let wasPaused = false
    for (const [at, entry] of entries.entries()) {
      const paused = pausedIn(entries.slice(0, at + 1))
      wasPaused ||= paused.length > 0
      if (entry['k'] === 'run.waiting') expect(paused, `entry ${at}`).toEqual(openNodes(entry))
    }
    expect(wasPaused).toBe(true)
    expect(entries.at(-1)).toMatchObject({ k: 'run.finished', status: story.status })
    expect(engineCheckpoint(entries)).toMatchObject({
      completed_node_ids: story.completed,
      poll_state_by_node_id: {},
      paused_by_node_id: {}
    })
  })

  it('pause nothing of a run that was ended without its code', async () => {
    const entries = await played(cancelled)
    const parked = entries.slice(0, entries.findIndex(({ k }) => k === 'run.waiting') + 1)
    expect(pausedIn(parked)).toEqual(['ask', 'pay'])
    const ended = [...parked, { k: 'cancel', withoutCode: true }, { k: 'run.finished' }]
    expect(pausedIn(ended)).toEqual([])
  })
})
