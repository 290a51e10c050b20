import type { Workflow } from '../../code/index.js'
import type { Duration, Json } from '../../core/index.js'
import type { QueueTerms } from '../../queue/index.js'

/** What begins by time. */
export interface ScheduleOptions<Input = unknown> {
  /** Letters, digits and `._-`, at most 64. */
  readonly name: string
  /** When, as cron says it, with seconds before the minutes if need be; or `every`. */
  readonly cron?: string
  /** So long from one to the next, from when it is registered on: `'15m'`, `'1d'`. */
  readonly every?: Duration
  /** Of `cron`: a name of the IANA, `Europe/Berlin`. Default `UTC`. */
  readonly timeZone?: string
  /** A registered workflow in code, or its `name` or `name@version`; or `document`. */
  readonly workflow?: string | Workflow<Input, unknown>
  readonly document?: string | Json
  readonly input?: NoInfer<Input>
  /**
   * While an earlier run of it is open: `skip` (default) begins none, `queue` lets the new one wait
   * for its end, `allow` begins it beside, `cancel` ends the earlier one first.
   */
  readonly overlap?: Overlap
  /**
   * What fell due while nothing held the ledger: `none` of it begins, the `last` (default), or
   * `all`, the last ones up to a number.
   */
  readonly catchUp?: 'none' | 'last' | { readonly all: number }
  readonly tags?: readonly string[]
  /**
   * Whose data its runs are about, as of a start. Input, tags and queue are under the key of the
   * subject, too; once that is erased it begins nothing more, and says so.
   */
  readonly subject?: string
  /** Declared queue in which its runs wait; not with `overlap: 'queue'`. */
  readonly queue?: string | QueueTerms
}

/** What happens when a time falls due while an earlier run of the schedule is open. */
export type Overlap = 'skip' | 'queue' | 'allow' | 'cancel'
