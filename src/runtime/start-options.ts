import type { Json } from '../core/index.js'

export interface StartOptions {
  /** Names the run: the same id with the same document and inputs is the same run (L6). */
  readonly id?: string
  /** Payload of the root block's request. */
  readonly inputs?: Json
  /** Protocols that a workflow names, beside those of `workflow` in the runtime's options. */
  readonly protocols?: readonly (string | Json)[]
}
