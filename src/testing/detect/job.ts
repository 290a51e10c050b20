import type { DetectedBlock, Impurity, Place } from './report.js'
import type { World } from './worlds.js'

/** What a child process is asked, one JSON text on its standard input. */
export interface Job {
  readonly world: World
  readonly cases: readonly JobCase[]
  /** Also looks for what differences come from: order of keys, readings at load, variables. */
  readonly isSearching: boolean
}

export interface JobCase extends Omit<DetectedBlock, 'module'> {
  readonly number: number
  readonly module: string
}

/** What it answers, one line of JSON each, on its descriptor 3. */
export type JobLine =
  | { readonly kind: 'begun'; readonly number: number }
  | ({ readonly kind: 'ended'; readonly number: number } & CaseResult)

export interface CaseResult {
  readonly findings: readonly Impurity[]
  /** What may be behind a difference; only of a process that searches. */
  readonly suspects: readonly Impurity[]
  /** Where the code of the block begins; only of a process that searches. */
  readonly place?: Place
  /** Outcome of the first execution in that process, and of a second one. */
  readonly first: string
  readonly second: string
  readonly unended?: string
}

export function unendedResult(unended: string): CaseResult {
  return { findings: [], suspects: [], first: '', second: '', unended }
}
