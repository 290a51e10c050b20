import { describe, expect, it } from 'vitest'
import { ledgerError } from '../../../../src/core/index.js'
import { isUnreadable } from '../../../../src/ledger/index.js'
import { readError } from '../../../../src/ledger/stores/level-errors.js'

describe('what a failed read tells of', () => {
  const read = (text: string) => readError('/ledger/data-1', 'key', new Error(text))

  it.each(['IO error: 000007.ldb: Invalid argument', 'IO error: 000007.ldb: Input/output error'])(
    'of files that cannot be read: %s',
    (text) => {
      expect(isUnreadable(read(text))).toBe(true)
    }
  )

  it.each([
    'IO error: 000007.ldb: Too many open files',
    'IO error: 000007.ldb: Permission denied',
    'IO error: 000007.ldb: Cannot allocate memory',
    'IO error: 000007.ldb: No space left on device'
  ])('of what the process lacks, which costs no record: %s', (text) => {
    expect(read(text).code).toBe('store.read_failed')
    expect(isUnreadable(read(text))).toBe(false)
  })

  it('of damage, and of nothing else', () => {
    expect(isUnreadable(ledgerError('ledger.corrupt', { key: 'k', problem: 'p' }))).toBe(true)
    expect(isUnreadable(ledgerError('store.closed', { path: 'p' }))).toBe(false)
    expect(isUnreadable(new Error('Invalid argument'))).toBe(false)
  })
})
