import type { Json } from '../../../src/core/index.js'
import type { Runtime } from '../../../src/runtime/index.js'

export interface WorkerOptions {
  /** Where the built sources are, with a slash at the end. */
  readonly sources: string
  readonly location: string
  readonly chain: string
  readonly url: string
  readonly key: string
  /** Text of a document `ais/0.0.2`. */
  readonly protocol: string
  readonly flow: Json
  readonly token: string
}

export function openWorker(options: WorkerOptions): Promise<Runtime>
/** What run number `value` is started with. */
export function givenFor(options: Pick<WorkerOptions, 'chain' | 'token'>, value: number): Json
