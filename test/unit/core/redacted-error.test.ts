import { describe, expect, it } from 'vitest'
import {
  blockError,
  cliError,
  isTallyError,
  Redactor,
  redactedError,
  redactedErrorAtOnce,
  type TallyError
} from '../../../src/core/index.js'

const redactor = new Redactor()
redactor.know('env:KEY', 'password1')

const ways = [
  ['in turns', redactedError],
  ['at once', async (error: unknown, by: Redactor) => redactedErrorAtOnce(error, by)]
] as const

describe.each(ways)('K16: an error without known secrets, searched %s', (_, redacted) => {
  it('is of the same code, with the same names in its context and causes', async () => {
    const cause = new TypeError('cannot parse password1', { cause: 'password1' })
    const error = cliError('cli.usage', { problem: 'no password1' }, { cause })
    const clean = await redacted(error, redactor)
    expect(isTallyError(clean, 'cli.usage')).toBe(true)
    expect(clean).toMatchObject({
      context: { problem: 'no [env:KEY]' },
      cause: { name: 'TypeError', message: 'cannot parse [env:KEY]', cause: '[env:KEY]' }
    })
    const told = clean as TallyError & { readonly cause: Error }
    expect(`${told.message} ${told.stack} ${told.cause.stack}`).not.toContain('password1')
    expect(told.cause.stack).toMatch(/^TypeError: cannot parse \[env:KEY\]\n +at /)
  })

  it('keeps the code of a system error', async () => {
    const error = Object.assign(new Error('password1'), { code: 'ENOENT' })
    expect(await redacted(error, redactor)).toMatchObject({
      message: '[env:KEY]',
      code: 'ENOENT'
    })
  })

  it('is the error itself where it holds none, and where none is known', async () => {
    for (const error of [
      cliError('cli.usage', { problem: 'none' }, { cause: new Error('none') }),
      new Error('none'),
      { password: 'password1' },
      undefined
    ]) {
      expect(await redacted(error, redactor)).toBe(error)
    }
    const error = new Error('password1')
    expect(await redacted(error, new Redactor())).toBe(error)
  })

  it('has no more causes than a limit, and no cause where there was none', async () => {
    const messages = Array.from({ length: 12 }, (_, at) => `password1 ${at}`)
    const chain = messages.reduceRight<Error | undefined>(
      (cause, message) => new Error(message, cause === undefined ? {} : { cause }),
      undefined
    )
    const clean: string[] = []
    for (let next = await redacted(chain, redactor); next instanceof Error; next = next.cause) {
      clean.push(next.message)
    }
    expect(clean).toEqual(messages.slice(0, 9).map((_, at) => `[env:KEY] ${at}`))
    const alone = await redacted(new Error('password1'), redactor)
    expect(Object.hasOwn(alone as Error, 'cause')).toBe(false)
    expect(Object.hasOwn(alone as Error, 'code')).toBe(false)
    const coded = cliError('cli.usage', { problem: 'password1' })
    expect(Object.hasOwn((await redacted(coded, redactor)) as Error, 'cause')).toBe(false)
  })

  it('is cleaned where its cause alone holds one, or its context alone', async () => {
    const error = new Error('none', { cause: new Error('password1') })
    expect(await redacted(error, redactor)).toMatchObject({
      message: 'none',
      cause: { message: '[env:KEY]' }
    })
    const coded = cliError('cli.usage', { problem: 'none' }, { cause: 'password1' })
    expect(await redacted(coded, redactor)).toMatchObject({ cause: '[env:KEY]' })
    expect(await redacted('password1', redactor)).toBe('[env:KEY]')
    expect(await redacted(1, redactor)).toBe(1)
  })

  it('ends with causes that go round in a circle', async () => {
    const error = new Error('password1')
    error.cause = error
    expect(((await redacted(error, redactor)) as Error).message).toBe('[env:KEY]')
  })

  it('has no secret where what to do about it has one, and its message does not', async () => {
    const context = { runId: 'r', principal: 'agent', capability: 'pay', codeHash: 'c' }
    const error = blockError('run.not_permitted', {
      ...context,
      missing: 'a grant',
      command: 'tally grant password1'
    })
    const clean = (await redacted(error, redactor)) as TallyError<'run.not_permitted'>
    expect(clean.message).toBe(error.message)
    expect(clean.fix).toBe(error.fix.replace('password1', '[env:KEY]'))
    expect(clean.context).toEqual({ ...error.context, command: 'tally grant [env:KEY]' })
  })
})
