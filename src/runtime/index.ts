/** runtime: a ledger, what may run on it, and the runs of this process, wired together. */
export type { DeliveredEvent } from './channel.js'
export type { Answer, RunHandle, RunResult } from './handle.js'
export { keyFilePath, MEMORY_LOCATION, type OpenOptions } from './open.js'
export type { Registrations } from './registry.js'
export {
  createRuntime,
  type Runtime,
  type RuntimeOptions,
  type StartOptions,
  WiredRuntime
} from './runtime.js'
