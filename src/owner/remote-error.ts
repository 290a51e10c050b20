import {
  anyError,
  type ErrorCode,
  type ErrorContext,
  errorCatalogue,
  isTallyError,
  ledgerError,
  type TallyError
} from '../core/index.js'
import type { RemoteError } from './protocol.js'

/** An error of a handler, as data. Stacks and causes stay with the owner. */
export function toRemote(error: unknown): RemoteError {
  const known = isTallyError(error) ? error : unexpected(error)
  return {
    code: known.code,
    message: known.message.toWellFormed(),
    fix: known.fix.toWellFormed(),
    context: Object.fromEntries(
      Object.entries(known.context).map(([name, value]) => [name, printable(value)])
    )
  }
}

/**
 * The error that the owner threw, again as an error of the same code. One that this version does
 * not know, or words in another way, becomes `owner.request_failed`.
 */
export function fromRemote(remote: RemoteError): TallyError {
  if (Object.hasOwn(errorCatalogue, remote.code)) {
    const context = remote.context as ErrorContext<ErrorCode>
    const error = anyError(remote.code as ErrorCode, context)
    if (error.message === remote.message) return error
  }
  return ledgerError('owner.request_failed', {
    remoteCode: remote.code,
    problem: remote.message
  })
}

function unexpected(error: unknown): TallyError {
  return ledgerError('owner.request_failed', {
    remoteCode: error instanceof Error ? error.name : typeof error,
    problem: error instanceof Error ? error.message : String(error)
  })
}

function printable(value: string | number): string | number {
  if (typeof value === 'string') return value.toWellFormed()
  return Number.isFinite(value) ? value : String(value)
}
