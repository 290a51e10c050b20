import { blockError, type TallyError } from '../../core/index.js'
import type { QuarantineMark } from '../../ledger/index.js'

/** What a quarantined run answers to a caller that wants it to continue. */
export function quarantineRefusal(mark: QuarantineMark): TallyError {
  const { run: runId, receipt, provider, field } = mark
  const what = receipt === null ? 'its journal' : `receipt ${receipt.slice(0, SHOWN_LENGTH)}`
  const by = provider === null ? '' : ` of ${provider}`
  return blockError('run.quarantined', { runId, problem: `${what}${by} differs in ${field}` })
}

/** A mark in words, with what its owner can do. */
export function quarantineWarning(mark: QuarantineMark): string {
  const { message, fix } = quarantineRefusal(mark)
  return `${message} ${fix}`
}

/** Digits that tell a receipt apart from others. */
const SHOWN_LENGTH = 12
