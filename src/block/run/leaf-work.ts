import type { Attempt } from '../pump/attempt.js'

/** What a unit of work is made of: a live attempt has it, and so has one that was done again. */
export type LeafWork = Pick<
  Attempt,
  | 'unitId'
  | 'block'
  | 'ask'
  | 'at'
  | 'seed'
  | 'view'
  | 'capabilitiesUsed'
  | 'sealedReferences'
  | 'attribution'
>
