import { describe, expect, it } from 'vitest'
import { isTallyError, Redactor, redactedError, TallyError } from '../../../src/core/index.js'

const redactor = new Redactor()
redactor.know('env:KEY', 'password1')

describe('K16: an error without known secrets', () => {
  it('is of the same code, with the same names in its context and causes', () => {
    const cause = new TypeError('cannot parse password1', { cause: 'password1' })
    const error = new TallyError('cli.usage', { problem: 'no password1' }, { cause })
    const clean = redactedError(error, redactor)
    expect(isTallyError(clean, 'cli.usage')).toBe(true)
    expect(clean).toMatchObject({
      context: { problem: 'no [env:KEY]' },
      cause: { name: 'TypeError', message: 'cannot parse [env:KEY]', cause: '[env:KEY]' }
    })
    const told = clean as TallyError & { readonly cause: Error }
    expect(`${told.message} ${told.stack} ${told.cause.stack}`).not.toContain('password1')
  })

  it('keeps the code of a system error', () => {
    const error = Object.assign(new Error('password1'), { code: 'ENOENT' })
    expect(redactedError(error, redactor)).toMatchObject({ message: '[env:KEY]', code: 'ENOENT' })
  })

  it('is the error itself where it holds none, and where none is known', () => {
    for (const error of [
      new TallyError('cli.usage', { problem: 'none' }, { cause: new Error('none') }),
      new Error('none'),
      { password: 'password1' },
      undefined
    ]) {
      expect(redactedError(error, redactor)).toBe(error)
    }
    const error = new Error('password1')
    expect(redactedError(error, new Redactor())).toBe(error)
  })

  it('ends with causes that go round in a circle', () => {
    const error = new Error('password1')
    error.cause = error
    expect((redactedError(error, redactor) as Error).message).toBe('[env:KEY]')
  })
})
