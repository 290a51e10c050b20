import { TallyError } from '../../core/index.js'
import { type Finding, unexpected } from '../finding.js'
import type { UnitAgain } from './unit-again.js'

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
