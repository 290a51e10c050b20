import { isForSignal, type MessageOutcome, type OpenWait } from '../../block/index.js'
import { signalNamed } from '../../code/index.js'
import { isJsonObject, type Json, type ManualClock, type RunId } from '../../core/index.js'
import type { Answer, RunHandle } from '../../runtime/index.js'
import type { PersonAct, Script } from './case.js'
import type { PeopleOptions } from './options.js'
import type { World } from './world.js'

/** Actions from the most agreeable to the one that a run never ends with by itself. */
const preferred = ['approve', 'resume', 'skip', 'abort', 'deny', 'patch', 'retry']

const DAY_MS = 24 * 60 * 60 * 1000
const OTHER_DIGEST = '0'.repeat(64)

/** What the runtime has made of a message, where it had to be refused. */
export interface WronglyTaken {
  readonly token: string
  readonly what: string
}

/**
 * The people of one play: they answer waits as the script says, also late, twice and wrongly.
 *
 * Owns: what was taken although it had to be refused, and which waits have been asked.
 */
export class People {
  readonly asked = new Set<string>()
  readonly wronglyTaken: WronglyTaken[] = []
  /** What they did that another moment of a crash would have done otherwise. */
  hasCancelled = false
  /** Waits whose answers were not taken: no other is given. */
  readonly #refused = new Set<string>()
  /** Answers that are given once the wait is over. */
  readonly #late = new Map<string, LateAnswer>()
  readonly #parts: PeopleParts

  constructor(parts: PeopleParts) {
    this.#parts = parts
  }

  /** Answers a wait; false: it stays open. */
  async answer(run: RunHandle, wait: OpenWait): Promise<boolean> {
    const { script, world, clock } = this.#parts
    const { token } = wait
    const isNew = !this.asked.has(token)
    this.asked.add(token)
    const act = script.actOf(token)
    if (isForSignal(wait)) {
      if (act.manner === 'cancels') return this.#cancel(run, wait)
      return this.#signal(run, wait, { act, isNew })
    }
    const reply = this.#reply(run.id, wait, act)
    if (reply === undefined || act.manner === 'never' || this.#refused.has(token)) {
      if (isNew) world.story.push(`${wait.reason} at ${wait.path}: stays open`)
      return false
    }
    if (act.manner === 'late' && wait.due !== null) {
      if (!this.#late.has(token)) world.story.push(`${wait.reason} at ${wait.path}: comes too late`)
      const give = () => this.#isRefused(run, { wait, reply, what: 'an answer after its time' })
      this.#late.set(token, { run, give })
      return false
    }
    // An answer that died with its process is given again, and no later.
    if (act.manner === 'late' && isNew) clock.advance(DAY_MS)
    if (act.manner === 'cancels') return this.#cancel(run, wait)
    world.story.push(`${wait.reason} at ${wait.path}: ${reply.action}${mannerText(act)}`)
    if (act.manner === 'wrong_digest') {
      const wrong = { ...reply, answer: { ...reply.answer, digest: OTHER_DIGEST } }
      await this.#isRefused(run, { wait, reply: wrong, what: 'an answer with a wrong digest' })
    }
    // What the person says counts from here on, whether or not the process lives to receive it.
    world.askedAPerson(run.id, wait.path)
    const outcome = await send(run, wait.token, reply)
    if (!outcome.accepted && outcome.reason === 'answer_refused') {
      this.#refused.add(token)
      world.story.push(`${wait.reason} at ${wait.path}: the answer is refused, and it stays open`)
      return false
    }
    if (act.manner === 'twice') {
      await this.#isRefused(run, { wait, reply, what: 'a second answer' })
    }
    return true
  }

  async #cancel(run: RunHandle, { reason, path }: OpenWait): Promise<boolean> {
    this.hasCancelled = true
    this.#parts.world.story.push(`${reason} at ${path}: the run is cancelled`)
    await run.cancel('a person has cancelled it')
    return true
  }

  /** Sends what a run asks for by name; under the same id each time, whatever dies meanwhile. */
  async #signal(
    run: RunHandle,
    wait: OpenWait,
    { act, isNew }: { readonly act: PersonAct; readonly isNew: boolean }
  ): Promise<boolean> {
    const { world } = this.#parts
    const { token, due } = wait
    const name = signalNamed(wait.request) ?? ''
    const told = `signal ${name} at ${wait.path}`
    const isLate = act.manner === 'late' && due !== null
    if (act.manner === 'never' || isLate || this.#refused.has(token)) {
      if (isNew) world.story.push(`${told}: ${isLate ? 'comes too late' : 'does not come'}`)
      return false
    }
    if (act.manner === 'late' && isNew) this.#parts.clock.advance(DAY_MS)
    const value = await world.signalled(name, { asking: token, otherwise: act.value ?? null })
    const outcome = await run.signal(name, value, { id: token })
    world.story.push(`${told}: ${outcome.accepted ? 'is sent' : outcome.reason}`)
    if (!outcome.accepted) {
      // It may be sent again at once where the run was only on its way to rest or back.
      if (outcome.reason === 'run_moved') return true
      this.#refused.add(token)
      return false
    }
    if (act.manner === 'twice') {
      const again = await run.signal(name, value, { id: token })
      if (!again.accepted || again.repeated !== true) {
        this.wronglyTaken.push({ token, what: 'a signal that was sent twice' })
      }
    }
    if (act.manner === 'wrong_digest') {
      const other = await run.signal(name, [value, OTHER_DIGEST], { id: token })
      if (other.accepted) this.wronglyTaken.push({ token, what: 'another signal of the same id' })
    }
    return true
  }

  /** Gives the answers that come too late. */
  async comeLate(): Promise<void> {
    for (const [token, { run, give }] of this.#late) {
      // Its time has not come, or the run has not seen yet that it has.
      if ((await run.waits()).some((wait) => wait.token === token)) continue
      this.#late.delete(token)
      await give()
    }
  }

  async #isRefused(
    run: RunHandle,
    { wait, reply, what }: { wait: OpenWait; reply: Reply; what: string }
  ): Promise<void> {
    const outcome = await send(run, wait.token, reply)
    if (outcome.accepted) this.wronglyTaken.push({ token: wait.token, what })
  }

  #reply(run: RunId, wait: OpenWait, act: PersonAct): Reply | undefined {
    const offered = preferred.filter((action) => wait.actions.includes(action))
    const action = offered[(act.chooses ?? 0) % Math.max(1, offered.length)]
    if (action === undefined) return undefined
    const value = this.#value(run, wait, { action, act })
    const answer: Answer = { digest: wait.digest, by: 'a person', value }
    if (wait.approvers === undefined) return { action, answer }
    const approval = this.#parts.options.sign?.(wait, { action, value })
    return approval === undefined ? undefined : { action, answer: { ...answer, approval } }
  }

  #value(run: RunId, wait: OpenWait, { action, act }: { action: string; act: PersonAct }): Json {
    if (action === 'patch') return isJsonObject(act.value) ? act.value : {}
    if (action !== 'resume') return null
    // What became of an effect is answered truthfully.
    if (wait.reason === 'decision' && isJsonObject(wait.request)) {
      const done = this.#parts.world.resultOf(run, wait.request['request'] ?? null)
      if (done !== undefined) return done
    }
    return act.value ?? null
  }
}

export interface PeopleParts {
  readonly script: Pick<Script, 'actOf'>
  readonly world: World
  readonly clock: Pick<ManualClock, 'advance'>
  readonly options: PeopleOptions
}

interface LateAnswer {
  readonly run: RunHandle
  give(): Promise<void>
}

interface Reply {
  readonly action: string
  readonly answer: Answer
}

async function send(run: RunHandle, token: string, reply: Reply): Promise<MessageOutcome> {
  const { action, answer } = reply
  if (action === 'approve') return run.approve(token, answer)
  if (action === 'deny') return run.deny(token, answer)
  return run.resume(token, { ...answer, action: decisionOf(action) })
}

type Decision = NonNullable<Parameters<RunHandle['resume']>[1]['action']>

function decisionOf(action: string): Decision {
  switch (action) {
    case 'retry':
    case 'patch':
    case 'skip':
    case 'abort':
      return action
    default:
      return 'resume'
  }
}

function mannerText({ manner }: PersonAct): string {
  if (manner === 'late') return ', a day later'
  if (manner === 'twice') return ', twice'
  if (manner === 'wrong_digest') return ', first with a wrong digest'
  return ''
}
