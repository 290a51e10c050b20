import type { Hash } from '../../core/index.js'
import type { Response } from '../protocol.js'
import type { OpenWait } from '../run/entries.js'
import type { RunCheckpoint } from './host.js'

/** Why a pump stopped. A parked run goes on when a message or a due time takes it up again. */
export type RunEnd =
  | {
      readonly kind: 'finished'
      readonly status: 'done' | 'failed' | 'cancelled'
      readonly response: Response
      readonly receiptHash: Hash | undefined
      /** Who did it, of a run that is one unit of work and left a receipt. */
      readonly dappId?: string
    }
  | {
      readonly kind: 'parked'
      readonly waits: readonly OpenWait[]
      readonly due: number | null
      readonly checkpoint: RunCheckpoint | undefined
    }
  /** Without a checkpoint: an overlay is open, and only the journal has what is in it. */
  | { readonly kind: 'stopped'; readonly checkpoint: RunCheckpoint | undefined }
