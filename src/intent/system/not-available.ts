import type { SystemIntent } from '../names.js'

/** Why a system intent cannot be done inside an open ledger, and what does it instead. */
export interface NotAvailable {
  readonly problem: string
  readonly fix: string
}

/** System intents that are known and not done, each with its reason (K2). */
export const notAvailable: Partial<Record<SystemIntent, NotAvailable>> = {
  'system.identity.create': {
    problem: 'a ledger has one identity, and its chain cannot begin another one',
    fix: 'Make another ledger: "tally init" in a directory of its own.'
  },
  'system.import': {
    problem: 'an open ledger is not replaced under its runs',
    fix: 'Close it, then "tally import FILE --dir DIR" or importSnapshot(location, { file }).'
  }
}
