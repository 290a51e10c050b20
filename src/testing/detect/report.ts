import type { SealedAnswer } from '../../block/index.js'
import type { Json } from '../../core/index.js'

/**
 * Which block or workflow in code is looked at, and what it is given. Plain data: it is sent to
 * another process.
 */
export interface DetectedBlock {
  /** URL or absolute path of the module, as Node loads it: compiled JavaScript. */
  readonly module: string | URL
  /** Name of the export: a block, a workflow in code, or a list or record of them. */
  readonly export: string
  /** Name of the block or workflow where the export has several. */
  readonly block?: string
  readonly input?: Json
  /** State that the block finds, by key. */
  readonly state?: Readonly<Record<string, Json>>
  /**
   * Answers to its calls in the order of delivery; `seq` counts the calls from 1. Steps of a
   * workflow in code have the effect `step`, and for `body` what the step gives.
   */
  readonly tape?: readonly Pick<SealedAnswer, 'seq' | 'effect' | 'ok' | 'body'>[]
}

/** Bounds of a search for what blocks do past `ctx`. */
export interface ImpurityOptions {
  /** Longest time of one block in a process: loading its module, and executing it. */
  readonly timeoutMs?: number
}

/** What a block did past `ctx`. */
export type ImpurityKind =
  | 'chance'
  | 'clock'
  | 'collection'
  | 'environment'
  | 'files'
  | 'module state'
  | 'network'
  | 'order of keys'
  | 'process'
  | 'stack'
  | 'threads'
  | 'timers'

/** A line of a source file. */
export interface Place {
  /** Path of the file. */
  readonly file: string
  readonly line: number
}

/** One thing that the code did past `ctx`. */
export interface Impurity {
  readonly kind: ImpurityKind
  /** What was called or read, as code names it: `Date.now`, `node:fs readFileSync`. */
  readonly api: string
  /** Where; absent where an engine calls it with no code of a file between. */
  readonly at?: Place
  /** What to use instead. */
  readonly instead: string
}

/** What {@link detectImpurity} found. */
export interface ImpurityReport {
  /** The code ended, nothing was found, and its outcome was everywhere the same. */
  readonly ok: boolean
  readonly findings: readonly Impurity[]
  /** Outcomes that differ between processes, canonical JSON. */
  readonly varied?: {
    /** What alone makes a difference. Empty: only all of it together does. */
    readonly changed: readonly string[]
    readonly first: string
    readonly second: string
  }
  /** Why its end was not seen. What it does after that was not looked at. */
  readonly unended?: string
  /** What no detector looks at. */
  readonly notChecked: readonly string[]
}
