import type { OpenWait } from '../../src/block/index.js'
import { canonicalize, type Json, type JsonObject, type RunId } from '../../src/core/index.js'
import { type Receipt, verifyLedger } from '../../src/ledger/index.js'
import type {
  Answer,
  DeliveredEvent,
  Registrations,
  RunHandle,
  RunResult,
  WiredRuntime
} from '../../src/runtime/index.js'
import { drive } from '../../src/testing/machine/drive.js'
import { nextSignature } from './approvers.js'
import { type Life, Machine, openOn, testKeys, type World } from './lives.js'

/** How a person answers a wait: by what it asks, so that asking again gets the same answer. */
export type Decide = (wait: OpenWait, world: World) => Reply

export type Reply = { readonly value?: Json } & {
  /** `cancel`: of the whole run. */
  readonly action: 'approve' | 'deny' | 'resume' | 'retry' | 'patch' | 'skip' | 'abort' | 'cancel'
}

/** Approves, gives a value, tells what became of an effect, skips what failed. */
export const agreeable: Decide = (wait, world) => {
  if (wait.reason === 'external') return { action: 'resume', value: { given: wait.path } }
  if (wait.reason !== 'decision') return { action: 'approve', value: null }
  if (!wait.actions.includes('resume')) return { action: 'skip' }
  const { request } = wait.request as { readonly request: Json }
  const landed = world.resultOf(request)
  return landed === undefined ? { action: 'retry' } : { action: 'resume', value: landed }
}

export async function reply(run: RunHandle, wait: OpenWait, given: Reply) {
  const value = given.value ?? null
  // The same wait gets the same signal, in every life of its process.
  if (wait.actions.includes('signal') && given.action !== 'cancel') {
    const { signal } = wait.request as { readonly signal: string }
    return run.signal(signal, { value, token: wait.token }, { id: wait.token, by: 'tester' })
  }
  const approval = nextSignature(wait, { action: given.action, value })
  const signed = approval === undefined ? {} : { approval }
  const answer: Answer = { digest: wait.digest, by: 'tester', value, ...signed }
  if (given.action === 'approve') return run.approve(wait.token, answer)
  if (given.action === 'deny') return run.deny(wait.token, answer)
  if (given.action === 'cancel') {
    await run.cancel('enough')
    // No answer: it is not looked for in the journal.
    return { accepted: false, reason: 'run_moved' } as const
  }
  return run.resume(wait.token, { ...answer, action: given.action })
}

/** What a process has acknowledged before it ended. */
export interface Told {
  readonly events: DeliveredEvent[]
  readonly accepted: string[]
}

/** Drives one run until it ends or its process dies; undefined: it died. */
export async function driveRun(
  run: RunHandle,
  options: {
    readonly machine: Machine
    readonly life: Life
    readonly runtime: WiredRuntime
    readonly decide: Decide
    readonly told: Told
  }
): Promise<RunResult | undefined> {
  const { machine, life, runtime, told, decide } = options
  listen(run, life, told)
  const driven = await drive([run], {
    life,
    clock: machine.clock,
    progress: () => told.events.length,
    isKnown: (id) => runtime.ledger.run(id) !== undefined,
    answer: async (_, wait) => {
      const given = await reply(run, wait, decide(wait, machine.world))
      if (given.accepted && !life.isDead) told.accepted.push(wait.token)
      return true
    }
  })
  if (driven.kind === 'died') return undefined
  const end = driven.ends.get(run.id)
  if (end === undefined) throw new Error(`run ${run.id} is stuck`)
  if ('error' in end) throw end.error
  return end.result
}

function listen(run: RunHandle, life: Life, told: Told): void {
  const read = async () => {
    for await (const event of run) if (!life.isDead) told.events.push(event)
  }
  read().catch(() => undefined)
}

/** What is left of a run in the end. */
export interface Outcome {
  readonly result: RunResult
  readonly receipts: readonly Receipt[]
  readonly state: string
  readonly boundaries: number
  readonly lives: number
  readonly machine: Machine
}

/** A document as the property tests run it. */
export interface Scenario {
  readonly document: Json
  /** The name of a registered workflow in code, which begins in the place of the document. */
  readonly workflow?: string
  readonly inputs: Json
  readonly context?: JsonObject
  readonly registrations: (world: World) => Registrations
  readonly decide?: Decide
  readonly durability?: 'output' | 'step'
  /** Called before the first life. */
  readonly prepare?: (machine: Machine) => Promise<void>
  /** Called with each runtime that was opened. */
  readonly opened?: (runtime: WiredRuntime) => void
}

export const SCENARIO_RUN = 'scenario' as RunId

/** Runs a scenario; life n ends at boundary `deaths[n]`, the one after the last goes to the end. */
export async function runScenario(
  scenario: Scenario,
  deaths: readonly number[] = []
): Promise<Outcome> {
  const machine = new Machine(1 + (deaths[0] ?? 0))
  const told: Told = { events: [], accepted: [] }
  let boundaries = 0
  await scenario.prepare?.(machine)
  for (let lives = 1; ; lives += 1) {
    const { life, store } = machine.begin(deaths[lives - 1])
    const result = await oneLife(scenario, { machine, life, store, told })
    boundaries += life.boundaries
    if (result === undefined) continue
    return { ...result, boundaries, lives, machine }
  }
}

function begun(
  runtime: WiredRuntime,
  { document, workflow: name, inputs, context = {} }: Scenario,
  { workflows = [] }: Registrations
): RunHandle {
  if (name === undefined) return runtime.begin(document, { id: SCENARIO_RUN, inputs, context })
  const workflow = workflows.find((one) => one.name === name)
  if (workflow === undefined) throw new Error(`no workflow: ${name}`)
  return runtime.begin(workflow, inputs, { id: SCENARIO_RUN, context }) as RunHandle
}

async function oneLife(
  scenario: Scenario,
  options: {
    readonly machine: Machine
    readonly life: Life
    readonly store: Parameters<typeof openOn>[0]
    readonly told: Told
  }
): Promise<Pick<Outcome, 'result' | 'receipts' | 'state'> | undefined> {
  const { machine, life, store, told } = options
  const { registrations, decide = agreeable, durability } = scenario
  const registered = registrations(machine.world)
  let runtime: WiredRuntime
  try {
    runtime = await openOn(store, {
      ...registered,
      clock: life.clock(machine.clock),
      ...(durability === undefined ? {} : { durability })
    })
  } catch (error) {
    if (life.isDead) return undefined
    throw error
  }
  const { mode, cause } = runtime.status()
  if (mode !== 'ready') throw new Error(`the ledger is ${mode}: ${cause?.message}`)
  scenario.opened?.(runtime)
  let run: RunHandle
  try {
    await checkTold(runtime, told)
    const known = runtime.ledger.run(SCENARIO_RUN)
    run =
      known === undefined
        ? begun(runtime, scenario, registered)
        : await runtime.resume(SCENARIO_RUN)
  } catch (error) {
    // It died while it was resuming the run.
    if (life.isDead) return undefined
    throw error
  }
  let result: RunResult | undefined
  try {
    result = await driveRun(run, { machine, life, runtime, decide, told })
  } catch (error) {
    // It died while it was asked for its waits, or was given an answer.
    if (life.isDead) return undefined
    throw error
  }
  if (result === undefined) return undefined
  await checkTold(runtime, told)
  const receipts: Receipt[] = []
  for await (const { receipt } of runtime.receipts()) receipts.push(receipt)
  const state: (readonly [string, string])[] = []
  for await (const entry of runtime.ledger.stateEntries()) state.push(entry)
  // Not by `runtime`: what this process has in memory must not help.
  const report = await verifyLedger({ store, identity: testKeys.identity })
  const replayed = await runtime.verify()
  if (!replayed.ok) throw new Error(`replay: ${JSON.stringify(replayed.failure)}`)
  if (!report.ok) throw new Error(`verify: ${JSON.stringify(report.failure)}`)
  try {
    await runtime.close()
  } catch (error) {
    if (!life.isDead) throw error
  }
  return { result, receipts, state: canonicalize(state) }
}

/** Everything that was acknowledged is there (D2). */
async function checkTold(runtime: WiredRuntime, told: Told): Promise<void> {
  if (told.events.length === 0) return
  const entries: string[] = []
  for await (const { text } of runtime.journal(SCENARIO_RUN)) entries.push(text)
  for (const event of told.events) {
    if (event.type === 'block.settled' && event.receiptHash !== undefined) {
      const stored = await runtime.receipt(event.receiptHash)
      if (stored === undefined)
        throw new Error(`receipt of ${event.path} was acknowledged and is gone`)
    }
    const mark = markOf(event)
    if (mark !== undefined && !entries.some((text) => mark.every((part) => text.includes(part)))) {
      throw new Error(`${event.type} was acknowledged and is gone: ${mark.join(' ')}`)
    }
  }
  for (const token of told.accepted) {
    const isThere = entries.some(
      (text) => !text.includes('"k":"wait') && text.includes('"claimed":"tester"')
    )
    if (!isThere) throw new Error(`the answer to ${token} was accepted and is gone`)
  }
}

function markOf(event: DeliveredEvent): readonly string[] | undefined {
  switch (event.type) {
    case 'waiting':
      return ['"k":"wait"', event.token]
    case 'effect.sealed':
      return ['"k":"sealed"', `"path":"${event.path}"`, `"seq":${event.seq}`]
    case 'block.settled':
      return event.block.includes('composite') ? undefined : [`"path":"${event.path}"`]
    case 'run.started':
      return ['"k":"run.started"']
    case 'run.finished':
      return ['"k":"run.finished"']
    default:
      return undefined
  }
}
