import type { Json } from '../../core/index.js'
import type { Call } from '../run/calls.js'
import type { Outcome } from '../run/outcome.js'
import type { MessageOutcome, WaitMessage } from '../run/waits.js'
import type { Attempt } from './attempt.js'
import type { Performed } from './performing.js'

/** Something that happened outside the charts and is to become a journal entry. */
export type LeafFact =
  | { readonly kind: 'outcome'; readonly attempt: Attempt; readonly outcome: Outcome }
  | {
      readonly kind: 'performed'
      readonly attempt: Attempt
      readonly call: Call
      readonly performed: Performed
    }
  | { readonly kind: 'deadline'; readonly attempt: Attempt }
  /** What it has read changed before it sent anything: it has to run again (L10). */
  | { readonly kind: 'stale'; readonly attempt: Attempt; readonly reruns: number }

/** Something that has happened outside the charts; the pump turns each into journal entries. */
export type Fact =
  | LeafFact
  | { readonly kind: 'timer'; readonly path: string; readonly step: number }
  | { readonly kind: 'due'; readonly token: string }
  | {
      readonly kind: 'cancel'
      readonly reason: string
      readonly by: Json
      readonly resolve: (heard: boolean) => void
      readonly reject: (error: unknown) => void
    }
  | {
      readonly kind: 'message'
      readonly message: WaitMessage
      readonly resolve: (outcome: MessageOutcome) => void
      readonly reject: (error: unknown) => void
    }
