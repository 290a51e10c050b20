import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenWait } from '../../src/block/index.js'
import { defineBlock } from '../../src/code/index.js'
import type { Clock, Json, JsonObject, RunId } from '../../src/core/index.js'
import {
  createRuntime,
  type Registrations,
  type RunHandle,
  type WiredRuntime
} from '../../src/runtime/index.js'
import { aisText } from '../support/ais.js'
import { TestChain } from '../support/ais-chain.js'
import { asset, flow, owner, transfer } from '../support/ais-flows.js'
import { nextSignature, twoOfThree } from '../support/approvers.js'
import { isLong } from '../support/effort.js'
import { Machine, openOn, settleDown, until } from '../support/lives.js'
import { counterPackage, PackageFolder } from '../support/packages.js'
import { Project } from '../support/project.js'

/**
 * A wait whose time is over has ended, though its timer has not fired: the loop was busy, the
 * process was down, the run was parked.
 */

/** A clock whose timers fire only when the test has them fire. */
class LateClock implements Clock {
  #now = 1_700_000_000_000
  #timers: { readonly at: number; readonly due: () => void }[] = []

  now(): number {
    return this.#now
  }

  schedule(at: number, due: () => void): () => void {
    const timer = { at, due }
    this.#timers.push(timer)
    this.#timers.sort((one, other) => one.at - other.at)
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer)
    }
  }

  pass(ms: number): void {
    this.#now += ms
  }

  fire(): void {
    for (
      let [next] = this.#timers;
      next !== undefined && next.at <= this.#now;
      [next] = this.#timers
    ) {
      this.#timers.shift()
      next.due()
    }
  }
}

const block = (name: string, run: Parameters<typeof defineBlock>[0]['run'], more = {}) =>
  defineBlock({ name, version: '1.0.0', sideEffects: 'none', run, ...more })

const asking = (more: object) => (name: string) =>
  block(name, async (ctx, input) => {
    const { timeoutMs } = input as { timeoutMs?: number }
    const time = timeoutMs === undefined ? {} : { timeoutMs }
    const asked = { reason: 'external', request: 'what?', ...time, ...more } as const
    const { action, value } = await ctx.wait(asked)
    return { action, value }
  })

const registrations: Registrations = {
  blocks: [
    asking({})('ask'),
    asking({ reason: 'confirmation', approvers: twoOfThree })('ask.signed'),
    block('boom', (ctx) => ctx.fail('boom')),
    block('pay', () => ({ paid: true })),
    defineBlock({
      name: 'send',
      version: '1.0.0',
      sideEffects: 'non_idempotent',
      run: (ctx) => ctx.effect('send', { request: { to: 'Ada' } })
    })
  ],
  providers: [
    {
      name: 'send',
      perform: () => {
        throw new Error('the connection broke')
      }
    }
  ]
}

const one = (node: JsonObject): JsonObject => ({
  schema: 'tally-composite/1',
  name: 'one',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: node }
})

/** What ends by its time after so many milliseconds. */
const waits: Readonly<Record<string, (ms: number) => Json>> = {
  'a wait of code': (ms) => one({ block: 'ask', input: { lit: { timeoutMs: ms } } }),
  'a wait of code in a node with a time': (ms) =>
    one({ block: 'ask', input: { lit: {} }, timeout_ms: ms }),
  'a wait in a composite with a time': (ms) =>
    one({
      composite: { entry_point: 'b', nodes: { b: { block: 'ask', input: { lit: {} } } } },
      timeout_ms: ms
    }),
  'a wait with approvers': (ms) => one({ block: 'ask.signed', input: { lit: { timeoutMs: ms } } }),
  'a confirmation': (ms) => one({ block: 'pay', confirm: true, timeout_ms: ms }),
  'a confirmation with approvers': (ms) =>
    one({ block: 'pay', confirm: { approvers: twoOfThree as unknown as Json }, timeout_ms: ms }),
  'a decision about a failure': (ms) => one({ block: 'boom', on_error: 'ask', timeout_ms: ms }),
  'a decision about an unknown outcome': (ms) => one({ block: 'send', timeout_ms: ms }),
  'a node of a plan': (ms) => ({
    schema: 'tally-plan/1',
    name: 'one',
    version: '1.0.0',
    nodes: [
      { id: 'a', block: 'ask', input: { lit: {} }, timeout_ms: ms },
      { id: 'b', block: 'ask', input: { lit: { timeoutMs: ms } } }
    ]
  })
}

const places = ['in memory', 'parked', 'reopened'] as const
type Place = (typeof places)[number]

/** Short times keep a run in memory. */
const timeOf = (place: Place) => (place === 'in memory' ? 500 : 600_000)

interface Opened {
  readonly clock: LateClock
  readonly tally: WiredRuntime
  readonly run: RunHandle
  readonly wait: OpenWait
}

/** Opens one ledger again and again. */
function onMachine(code: Registrations = registrations) {
  const machine = new Machine()
  return (clock: Clock) => openOn(machine.begin().store, { ...code, clock })
}

/** Starts a run and lets it wait; what only one has signed keeps waiting. */
async function waiting(
  document: Json,
  place: Place,
  open: (clock: Clock) => Promise<WiredRuntime> = onMachine()
): Promise<Opened> {
  const clock = new LateClock()
  let tally = await open(clock)
  let run = tally.begin(document, { id: 'r' })
  let end: unknown
  run.result.then(
    (result) => {
      end = result
    },
    (error: unknown) => {
      end = error
    }
  )
  await until(async () => {
    if (end !== undefined) throw new Error(JSON.stringify(end))
    return (await run.waits()).length > 0
  })
  const [asked = never()] = await run.waits()
  if (asked.approvers !== undefined) {
    expect(await answer(run, asked)).toEqual({ accepted: true, isPartial: true })
  }
  if (place !== 'in memory') await until(() => tally.ledger.run('r' as RunId)?.status === 'waiting')
  await settleDown(() => tally.ledger.backlog().items)
  if (place === 'reopened') {
    await tally.close()
    tally = await open(clock)
    run = await tally.attach('r')
  }
  const [wait = never()] = await run.waits()
  return { clock, tally, run, wait }
}

function never(): never {
  throw new Error('it waits for nothing')
}

/** Gives the answer with which a wait ends well. */
function answer(run: RunHandle, wait: OpenWait) {
  const { actions, token, digest } = wait
  const isApproval = actions.includes('approve')
  const approval = nextSignature(wait, { action: isApproval ? 'approve' : 'resume', value: null })
  const given = { digest, ...(approval === undefined ? {} : { approval }) }
  if (isApproval) return run.approve(token, given)
  return run.resume(token, actions.includes('skip') ? { ...given, action: 'skip' } : given)
}

/** Lets timers fire until the run has ended; its journal, and how it ended. */
async function ended({ clock, tally, run }: Opened) {
  await until(() => {
    clock.fire()
    return tally.run('r')?.status !== 'waiting' && tally.run('r')?.status !== 'running'
  })
  const { status, response } = await run.result
  const journal: Json[] = []
  for await (const { value } of tally.journal('r')) journal.push(value)
  expect(await tally.replay()).toMatchObject({ ok: true })
  await tally.close()
  return { status, response, journal }
}

/** In the short form each wait has one place of the three. */
const rows = Object.entries(waits).flatMap(([name, document], index) => {
  const chosen = isLong ? places : [places[index % places.length] ?? 'parked']
  return chosen.map((place) => ({ name, place, document }))
})
const fewPlaces: readonly Place[] = isLong ? places : ['reopened']

describe('an answer that comes when the time of its wait is over', () => {
  it.each(rows)(
    'B3: is refused, and changes nothing: $name, $place',
    async ({ document, place }) => {
      const ms = timeOf(place)
      const silent = await waiting(document(ms), place)
      silent.clock.pass(ms)
      const expected = await ended(silent)

      const opened = await waiting(document(ms), place)
      const { clock, run, wait } = opened
      clock.pass(ms)
      const [now = wait] = await run.waits()
      expect(await answer(run, now)).toEqual({ accepted: false, reason: 'unknown_token' })
      expect(await ended(opened)).toEqual(expected)
    }
  )

  it.each(rows)(
    'B3: is taken a millisecond earlier: $name, $place',
    async ({ document, place }) => {
      const ms = timeOf(place)
      const opened = await waiting(document(ms), place)
      const { clock, run, wait, tally } = opened
      clock.pass(ms - 1)
      expect(await answer(run, wait)).toEqual({ accepted: true })
      await tally.close()
    }
  )
})

describe('an approval of what a package asks for that comes too late', () => {
  let counter: string
  let folder: PackageFolder
  beforeAll(async () => {
    folder = await PackageFolder.create()
    counter = await folder.write(counterPackage)
  })
  afterAll(() => folder.remove())

  it.each(fewPlaces)('B3, K5: grants nothing: %s', async (place) => {
    const ms = timeOf(place)
    const lit = { action: 'count.up', payload: {} }
    const document = one({ block: 'intent', input: { lit }, timeout_ms: ms })
    // Only a runtime of its own arranges its packages.
    const onDisk = (location: string) => (clock: Clock) =>
      createRuntime({
        location,
        create: 'if-absent',
        insecurePlaintextKey: true,
        serve: false,
        packages: [counter],
        clock
      })
    const grants = async ({ tally }: Opened) => {
      const reply = await tally.intent({ action: 'system.permissions' })
      return 'grants' in reply ? reply['grants'] : reply
    }
    for (const [passed, expected] of [
      [ms, { accepted: false, reason: 'unknown_token' }],
      [ms - 1, { accepted: true }]
    ] as const) {
      const opened = await waiting(document, place, onDisk(join(folder.path, `${place}-${passed}`)))
      opened.clock.pass(passed)
      expect(await answer(opened.run, opened.wait)).toEqual(expected)
      expect(JSON.stringify(await grants(opened)).includes('storage.read')).toBe(passed < ms)
      const { status } = await ended(opened)
      expect(status).toBe(passed < ms ? 'done' : 'failed')
    }
  })
})

describe('an answer that other nodes of a workflow share', () => {
  it.each(fewPlaces)('B3, W3: is no answer to them where it comes too late: %s', async (place) => {
    const ms = timeOf(place)
    const chain = new TestChain()
    const code: Registrations = {
      providers: chain.providers,
      workflow: {
        protocols: [aisText('erc20')],
        writes: 'broadcast',
        policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
      }
    }
    const args = { token: asset, to: owner, amount: { ref: 'inputs.amount' } }
    const nodes = [
      transfer('a', { args, timeout_ms: ms, on_error: 'continue' }),
      transfer('b', { args })
    ]
    const document = flow(nodes, { inputs: { amount: { type: 'uint256', required: true } } })
    const { clock, run, tally } = await waiting(document, place, onMachine(code))
    const asked = await run.waits()
    expect(asked.map(({ path }) => path).sort()).toEqual(['root/a', 'root/b'])
    const { token, digest } = asked.find(({ path }) => path === 'root/a') ?? never()
    clock.pass(ms)
    const outcome = await run.resume(token, { digest, value: { 'inputs.amount': '5' } })
    expect(outcome).toEqual({ accepted: false, reason: 'unknown_token' })
    await until(async () => (await run.waits()).map(({ path }) => path).join() === 'root/b')
    await tally.close()
    expect(chain.functions).toEqual([])
  })
})

describe('an answer that another process gives', () => {
  it('B3: finds the run as its time has ended it', async () => {
    const project = await Project.create()
    const init = await project.tally(['init', '--insecure-plaintext-key'])
    expect(init).toMatchObject({ code: 0 })
    const greet = defineBlock({
      name: 'greet',
      version: '1',
      sideEffects: 'none',
      run: () => ({ greeting: 'hello' })
    })
    // Long ago, for the commands that follow.
    const tally = await createRuntime({
      location: project.path('.tally'),
      blocks: [greet],
      serve: false,
      clock: new LateClock()
    })
    const confirm = { approvers: twoOfThree as unknown as Json }
    const run = tally.begin(one({ block: 'greet', confirm, timeout_ms: 600_000 }), { id: 'late' })
    await until(() => tally.run('late')?.status === 'waiting')
    const [wait = never()] = await run.waits()
    expect(await answer(run, wait)).toEqual({ accepted: true, isPartial: true })
    const [signedOnce = never()] = await run.waits()
    await until(() => tally.run('late')?.status === 'waiting')
    await tally.close()
    const { token, digest } = wait
    const signed = nextSignature(signedOnce, { action: 'approve', value: null })
    const approval = { token, digest, action: 'approve', value: null, ...signed }
    const file = { format: 'tally-approval/2', runId: 'late', approval }
    await project.write('second.json', JSON.stringify(file))
    const submitted = await project.tally(['approval', 'submit', 'second.json'])
    expect(submitted).toMatchObject({ code: 2 })
    const denied = await project.tally(['deny', 'late', token])
    expect(denied).toMatchObject({ code: 2 })
    const shown = await project.tally(['show', 'late', '--json'])
    expect(shown.stdout).toContain('timed_out')
    expect(await project.tally(['verify', '--replay'])).toMatchObject({ code: 0 })
    await project.remove()
  })
})
