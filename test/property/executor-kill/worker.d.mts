import type { Runtime } from '../../../src/runtime/index.js'

export interface WorkerOptions {
  /** Where the built sources are, with a slash at the end. */
  readonly sources: string
  readonly location: string
  readonly chain: string
  readonly url: string
  readonly key: string
}

export function openWorker(options: WorkerOptions): Promise<Runtime>
