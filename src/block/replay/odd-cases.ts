import { TallyError } from '../../core/index.js'
import { type Finding, unexpected } from '../finding.js'
import type { Sealed } from '../pump/entries.js'
import type { AskedAttempt } from './run-state.js'
import type { UnitAgain } from './unit-work.js'

/** Puts an answer on the tape as live: a listing that was asked for again stays in its place. */
export function release({ past: { tape } }: AskedAttempt, entry: Sealed): void {
  const known = tape.findIndex((sealed) => sealed.seq === entry.seq)
  if (known >= 0) tape[known] = entry
  else tape.push(entry)
}

export function found(finding: Finding | undefined): UnitAgain {
  return { kind: 'finding', finding: finding ?? unexpected('receipt', 'another', 'this one') }
}

export function unknownKind(entry: never): Finding {
  const { k } = entry as { readonly k: string }
  return unexpected('journal.k', 'a known kind of entry', String(k))
}

export function impossible(problem: string): TallyError {
  return new TallyError('core.internal', { problem })
}
