import type { Hash, UnitId } from '../../core/index.js'
import type { AttemptCommand } from '../chart/protocol.js'
import type { Attribution, Block } from '../code/block.js'
import type { SealedReference } from './journal.js'
import type { StateView } from './state-view.js'

/** What a unit of work is made of: a live attempt has it, and so has one that was done again. */
export interface LeafWork {
  readonly unitId: UnitId
  readonly block: Block
  readonly ask: AttemptCommand
  /** Frozen time, milliseconds. */
  readonly at: number
  readonly seed: { readonly base: Hash | 'GENESIS'; readonly value: Hash }
  readonly view: StateView
  readonly capabilitiesUsed: readonly string[]
  readonly attribution: Attribution | undefined
  sealedReferences(): readonly SealedReference[]
}
