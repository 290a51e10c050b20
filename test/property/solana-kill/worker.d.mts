import type { Execution } from '../../../src/executor/index.js'
import type { RunResult, Runtime } from '../../../src/runtime/index.js'

export interface WorkerOptions {
  /** Where the built sources are, with a slash at the end. */
  readonly sources: string
  readonly location: string
  readonly chain: string
  readonly url: string
  /** As the Solana CLI writes it. */
  readonly key: string
  readonly execution: Execution
  readonly run: string
}

export function openWorker(options: WorkerOptions): Promise<Runtime>
export function pay(runtime: Runtime, options: WorkerOptions): Promise<RunResult>
