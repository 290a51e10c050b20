import type { OpenWait } from '../../block/index.js'
import type { ManualClock, RunId } from '../../core/index.js'
import type { RunHandle, RunResult } from '../../runtime/index.js'
import type { Guests } from './guests.js'
import type { Life } from './life.js'
import { QUIET_TURNS, settleDown } from './settle.js'

/** How one run has ended: with a result, or with an error that rejects it. */
export type RunEnd = { readonly result: RunResult } | { readonly error: unknown }

export interface DrivePort {
  readonly life: Life
  readonly clock: ManualClock
  /** Changes while something happens that the boundaries of the life do not show. */
  progress?(): unknown
  /** Whether the ledger has a run. */
  isKnown(run: RunId): boolean
  /** Runs that those which are driven have begun and wait for; absent: none. */
  children?(): Promise<readonly RunHandle[]>
  /** Answers a wait; false: it stays open, and no time passes for it. */
  answer(run: RunHandle, wait: OpenWait): Promise<boolean>
  /** Packages, which compute when nothing else happens. */
  readonly guests?: Guests | undefined
  /** Turns of the loop without progress after which nothing more happens by itself. */
  readonly quietTurns?: number
}

/** Why driving has stopped. `waiting`: nothing but open waits is left. */
export type Driven =
  | { readonly kind: 'died' }
  | { readonly kind: 'ended' | 'waiting' | 'stuck'; readonly ends: ReadonlyMap<RunId, RunEnd> }

/** How often runs may be found quiet, with nothing to wait for, before they are stuck. */
const IDLE_MAX = 16
const IDLE_DOUBLINGS_MAX = 9
const ROUNDS_MAX = 10_000
/** An answer may have a room loaded that nothing has needed yet: that takes time, not turns. */
const ANSWERING = { quietTurns: 1, turnsMax: 50_000_000 }

/**
 * Drives runs until they have ended, or their process dies: lets them settle, has waits answered
 * one by one, and moves the clock when nothing else happens.
 */
export async function drive(runs: readonly RunHandle[], port: DrivePort): Promise<Driven> {
  const { life, clock } = port
  const ends = endsOf(runs)
  const unknown = new Set(runs.map(({ id }) => id))
  const isBegun = () => {
    for (const id of unknown) if (ends.has(id) || port.isKnown(id)) unknown.delete(id)
    return life.isDead || unknown.size === 0
  }
  let idle = 0
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const seen = () => `${life.boundaries} ${ends.size} ${String(port.progress?.())}`
    await settleDown(() => (isBegun() ? seen() : {}), { quietTurns: patience(port, idle) })
    if (life.isDead) return { kind: 'died' }
    if (ends.size === runs.length) return { kind: 'ended', ends }
    if (await port.guests?.computeNext()) {
      idle = 0
      continue
    }
    const open = runs.filter(({ id }) => !ends.has(id))
    const asked = await answerOne(open, port)
    if (asked === 'answered') {
      idle = 0
      continue
    }
    const due = clock.nextDue
    if (due === undefined && asked === 'all open') return { kind: 'waiting', ends }
    // Code that is given long recorded results again is busy without a sign of it.
    idle = due === undefined ? idle + 1 : 0
    if (idle > IDLE_MAX) return { kind: 'stuck', ends }
    clock.advance(Math.max(0, (due ?? 0) - clock.now()))
  }
  return { kind: 'stuck', ends }
}

/**
 * Turns to wait for a sign: more each time there was none, since a file that is loaded for the
 * first time takes time, and no turns.
 */
function patience({ quietTurns = QUIET_TURNS }: DrivePort, idle: number): number {
  return quietTurns * 2 ** Math.min(idle, IDLE_DOUBLINGS_MAX)
}

function endsOf(runs: readonly RunHandle[]): Map<RunId, RunEnd> {
  const ends = new Map<RunId, RunEnd>()
  for (const { id, result } of runs) {
    result.then(
      (ended) => ends.set(id, { result: ended }),
      (error: unknown) => ends.set(id, { error })
    )
  }
  return ends
}

type AwaitPort = Pick<DrivePort, 'life' | 'guests' | 'quietTurns'>

/** Awaits work, for which guests may have to compute; undefined: the process has died. */
export async function awaited<Result>(
  work: Promise<Result>,
  { life, guests, ...quiet }: AwaitPort
): Promise<Result | undefined> {
  let isSettled = false
  const settling = work.finally(() => {
    isSettled = true
  })
  settling.catch(() => undefined)
  const isOver = () => isSettled || life.isDead
  while (!isOver()) {
    await settleDown(() => (isOver() || guests?.isAsked === true ? 'over' : {}), ANSWERING)
    if (isOver()) break
    // What happens without them comes first.
    await settleDown(() => `${life.boundaries} ${isOver()}`, quiet)
    if (!isOver()) await guests?.computeNext()
  }
  return life.isDead ? undefined : settling
}

/** `all open`: each run waits for what is not answered. */
async function answerOne(
  runs: readonly RunHandle[],
  port: DrivePort
): Promise<'answered' | 'all open' | 'busy'> {
  const waiting = new Set<RunHandle>()
  const children = (await port.children?.()) ?? []
  for (const run of [...runs, ...children]) {
    const waits = await run.waits()
    if (waits.length > 0) waiting.add(run)
    for (const wait of waits) {
      const isAnswered = await awaited(port.answer(run, wait), port)
      if (port.life.isDead || isAnswered === true) return 'answered'
    }
  }
  // A run that waits for a child has no wait of its own.
  const isForChild = children.some((child) => waiting.has(child))
  return isForChild || runs.every((run) => waiting.has(run)) ? 'all open' : 'busy'
}
