import type { Json } from '../../core/index.js'
import type { Settled } from '../run/entries.js'
import { PayloadTexts } from '../run/payload-texts.js'
import { RunState } from '../run/run-state.js'
import { SentEffects } from '../run/sent-effects.js'
import { OverlaysAgain } from './overlay-again.js'
import type { AskedAttempt, Moment, OpenedOverlay } from './redo.js'

/** The state of a run that is done again, with what only its verification needs. */
export class ReplayState extends RunState<AskedAttempt, OpenedOverlay> {
  /** Items of the ledger before the one that is taken now, other runs' included. */
  item = 0
  /** Every `path step attempt` that was ever asked for: late answers may still arrive. */
  readonly asked = new Set<string>()
  /** What failed inside overlays, done again. */
  readonly overlays = new OverlaysAgain()
  readonly texts = new PayloadTexts()
  /** The attempt with which a run that is one unit of work has ended. */
  singleStep: { readonly attempt: AskedAttempt; readonly settled: Settled } | undefined
  /** What approvers have said that an effect of unknown outcome gave; it is sealed next. */
  signedResult: { readonly value: Json } | undefined
  /** What was done outside, as the evidence of a run that is ended without its code lists it. */
  readonly sent = new SentEffects()

  /** Now, in the order of things. */
  get moment(): Moment {
    return { entry: this.entries, item: this.item }
  }
}
