import type { CompiledWithChildren, JournalEntry } from '../../../block/index.js'
import type { CapabilityPackage } from '../../../capability/index.js'
import type { Case } from '../case.js'
import type { CaseOptions } from '../options.js'
import type { Play } from '../play.js'

/** Everything that one case has left, which the promises judge. */
export interface Evidence {
  readonly given: Case
  readonly options: CaseOptions
  readonly compiled: CompiledWithChildren
  /** Of the target. */
  readonly packages: readonly CapabilityPackage[]
  /** Without deaths. */
  readonly undisturbed: Play
  /** With the deaths of the case; absent: it has none. */
  readonly disturbed: Play | undefined
  /** Undisturbed once more, with one thing of the process around it varied. */
  readonly again: { readonly name: string; readonly play: Play } | undefined
}

/** What a promise found broken. */
export interface Broken {
  /** What happened, in one sentence. */
  readonly problem: string
  readonly expected?: string
  readonly actual?: string
  /** Node at which it happened, for the drawing. */
  readonly path?: string
}

/** One thing that holds for every honest machine, whatever happens to it. */
export interface MachinePromise {
  /** Stable: reports and tests name it. */
  readonly code: string
  readonly text: string
  check(evidence: Evidence): Broken | undefined
}

/** The plays of a case, the undisturbed one first. */
export function playsOf({ undisturbed, disturbed, again }: Evidence): readonly Play[] {
  return [undisturbed, disturbed, again?.play].filter((play) => play !== undefined)
}

/** What the first play that breaks it has broken. */
export function firstBroken(
  evidence: Evidence,
  check: (play: Play) => Broken | undefined
): Broken | undefined {
  return firstIn(playsOf(evidence), check)
}

/** What is broken by the first of them that breaks something. */
export function firstIn<Of>(
  all: Iterable<Of>,
  check: (one: Of) => Broken | undefined
): Broken | undefined {
  for (const one of all) {
    const broken = check(one)
    if (broken !== undefined) return broken
  }
  return undefined
}

/** What a failure of a package breaks, if the reason for it is among those that do. */
export function brokenByPackage(
  entry: JournalEntry,
  problemOf: (id: string, reason: string) => string | undefined
): Broken | undefined {
  if (entry.k !== 'settled' || entry.provider?.kind !== 'package') return undefined
  const { response, provider, path } = entry
  const { success, reason = '', details = {} } = response
  const problem = success ? undefined : problemOf(provider.id, reason)
  return problem === undefined
    ? undefined
    : { problem, actual: shortened(JSON.stringify(details)), path }
}

const SHOWN_LENGTH = 400

export function shortened(text: string): string {
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`
}
