import type { AnyActorLogic } from 'xstate'
import { type Obligations, type Request, ROOT_PATH } from '../../code/index.js'
import { type Hash, hashJson, type JsonObject } from '../../core/index.js'
import type { BlockIdentity } from '../chart/chart-run.js'
import type { LeafTable } from '../chart/leaf.js'
import type { ExecuteEvent } from '../chart/protocol.js'
import type { Classes, Pins, RunStarted } from './entries.js'
import type { Literals } from './payload-texts.js'

/** The block at the root of a run, compiled. */
export interface RootBlock {
  readonly name: string
  readonly version: string
  readonly definition: JsonObject
  /** Its canonical JSON: written once for all runs. */
  readonly definitionText: () => string
  /** Texts of its literals, for the payloads of its nodes; a single-step run has none. */
  readonly literals?: () => Literals
  readonly definitionHash: Hash
  /** What names alone have led to; absent: nothing that has a version. */
  readonly pins?: Pins
  /** What holds for what it may reach (K14); absent: nothing. */
  readonly obligations?: Obligations
  readonly logic: AnyActorLogic
  /** The leaf's chart as a table, with what its functions look up. */
  readonly leafTable: () => LeafTable
  /** Input of the root actor. */
  readonly input: BlockIdentity
  /**
   * The run is one unit of work: its root is a leaf, whose receipt ends it; there is no
   * `run.completed` (L6).
   */
  readonly isUnit: boolean
  /** Its children are chosen by code, at an attempt of its own (B12). */
  readonly isFunction?: true
  /** Of such a run: the name of its leaf's block. */
  readonly singleStepBlock?: string
  /**
   * Some code that the run can come to keeps its input or result private: so do the receipts and
   * the evidence of the run and of its composites.
   */
  readonly isPrivate: () => boolean
  /** Some node has a fallback after a retry or repair (C3). */
  readonly hasAlternatives: () => boolean
  /** Side-effect classes by which its charts decide; undefined where they ask for none. */
  readonly classes: () => Classes | undefined
  /** The composite that runs at an actor path. */
  readonly compositeAt: (path: string) => {
    readonly version: string
    readonly definitionHash: Hash
  }
}

/** What has the root of a run execute, as its first entry says; live and in replay the same. */
export function rootCommand(root: RootBlock, entry: RunStarted): ExecuteEvent {
  return {
    type: 'block.execute',
    request: rootRequest(root, entry),
    step: 1,
    options: entry.unsafe === undefined ? {} : { passesUnsafe: true },
    at: entry.at
  }
}

/** What the first entry of a run says of its root's request. */
export type RootTerms = Pick<RunStarted, 'run' | 'input' | 'context' | 'trace'>

export function rootRequest(
  { input: { block, sideEffects } }: Pick<RootBlock, 'input'>,
  { run, input, context = {}, trace }: RootTerms
): Request {
  const id = hashJson(['request', run, ROOT_PATH]).slice(0, 32)
  return {
    payload: input,
    context,
    metadata: {
      id,
      traceId: trace?.traceId ?? hashJson(['trace', run]).slice(0, 32),
      spanId: id.slice(0, 16),
      ...(trace?.spanId === undefined ? {} : { parentSpanId: trace.spanId }),
      runId: run,
      blockName: block,
      nodeName: ROOT_PATH,
      attempt: 1,
      sideEffectClass: sideEffects
    }
  }
}
