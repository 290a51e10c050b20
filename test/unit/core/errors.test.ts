import { describe, expect, it } from 'vitest'
import {
  assert,
  blockError,
  errorCatalogue,
  isTallyError,
  present
} from '../../../src/core/index.js'

describe('TallyError', () => {
  it('fills message and fix from its context and keeps the cause', () => {
    const cause = new Error('disk')
    const error = blockError('run.interrupted', { runId: 'june' }, { cause })
    expect(error.message).toBe('Run june is parked because the runtime closed; nothing is lost.')
    expect(error.fix).toContain('tally resume june')
    expect(error.cause).toBe(cause)
    expect(error.context).toEqual({ runId: 'june' })
  })

  it('has a stack that begins with what it says and who made it', () => {
    const error = blockError('run.not_found', { runId: 'june' })
    const [first, second] = (error.stack ?? '').split('\n')
    expect(first).toBe('TallyError: There is no run june in this ledger.')
    expect(second).toContain('errors.test.ts')
  })

  it('is recognised across duplicate installs, by code, and not by look-alikes', () => {
    const error: unknown = blockError('run.not_found', { runId: 'x' })
    expect(isTallyError(error)).toBe(true)
    expect(isTallyError(error, 'run.not_found')).toBe(true)
    expect(isTallyError(error, 'run.id_reused')).toBe(false)
    expect(isTallyError(Object.assign(new Error('x'), { code: 'run.not_found' }))).toBe(false)
    const elsewhere = { code: 'run.not_found', [Symbol.for('tallystick/TallyError')]: true }
    expect(isTallyError(elsewhere, 'run.not_found')).toBe(true)
  })

  it.each(Object.entries(errorCatalogue))('%s reads as sentences', (code, { message, fix }) => {
    expect(code).toMatch(/^[a-z]+\.[a-z0-9_]+$/)
    for (const text of [message, fix]) expect(text).toMatch(/^[A-Z{`]/)
  })

  it('marks broken assumptions as its own defects', () => {
    expect(() => assert(false, 'one is two')).toThrow(/one is two/)
    expect(() => present(undefined, 'the head')).toThrow(/missing the head/)
    expect(present(0, 'zero')).toBe(0)
  })
})
