import { isError, isTallyError, ledgerError, type TallyError } from '../../core/index.js'

/** Translates a refusal of LevelDB to open. */
export function openError(path: string, error: unknown): TallyError {
  const options = { cause: error }
  const problem = problemOf(error)
  switch (codeOf(error)) {
    case 'LEVEL_LOCKED':
      return ledgerError('ledger.locked', { path, problem: 'another process has it' }, options)
    case 'LEVEL_CORRUPTION':
      return ledgerError('ledger.corrupt', { key: path, problem }, options)
    default:
      return isDamage(problem)
        ? ledgerError('ledger.corrupt', { key: path, problem }, options)
        : ledgerError('store.open_failed', { path, problem }, options)
  }
}

/** Translates a failed write or close. */
export function writeError(path: string, error: unknown): TallyError {
  return ledgerError('store.write_failed', { path, problem: problemOf(error) }, { cause: error })
}

/** Translates a failed read of `key`. */
export function readError(path: string, key: string, error: unknown): TallyError {
  const problem = problemOf(error)
  const options = { cause: error }
  switch (codeOf(error)) {
    case 'LEVEL_DATABASE_NOT_OPEN':
    case 'LEVEL_ITERATOR_NOT_OPEN':
      return ledgerError('store.closed', { path }, options)
    case 'LEVEL_CORRUPTION':
      return ledgerError('ledger.corrupt', { key, problem }, options)
    default:
      return ledgerError('store.read_failed', { path, problem }, options)
  }
}

/** Whether an error tells of files that cannot be read, and not of what this process lacks. */
export function isUnreadable(error: unknown): error is TallyError {
  if (isTallyError(error, 'ledger.corrupt')) return true
  return isTallyError(error, 'store.read_failed') && !lack.test(String(error.context.problem))
}

const lack = /disk is full|read-only|permission denied|too many open files|cannot allocate/i

/** LevelDB gives no error number: only its text tells a full disk from a broken one. */
function problemOf(error: unknown): string {
  const text = textOf(error)
  if (/no space left|disk quota|file too large/i.test(text)) return 'the disk is full'
  if (/read-only file system/i.test(text)) return 'the file system is read-only'
  if (/permission denied|operation not permitted/i.test(text)) return 'permission denied'
  return text
}

/** A table or manifest that CURRENT leads to and that is not there comes as an I/O error. */
function isDamage(problem: string): boolean {
  return /no such file|does not exist|missing files|not an sstable|checksum mismatch/i.test(problem)
}

function textOf(error: unknown): string {
  if (!isError(error)) return String(error)
  return isError(error.cause) ? textOf(error.cause) : error.message
}

/** The innermost `code` that LevelDB or the file system gave. */
function codeOf(error: unknown): string | undefined {
  if (!isError(error)) return undefined
  const inner = codeOf(error.cause)
  if (inner !== undefined) return inner
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
