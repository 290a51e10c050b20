import { describe, expect, it } from 'vitest'
import type { Provider } from '../../../../src/block/index.js'
import { perform } from '../../../../src/block/pump/performing.js'
import type { EffectRequest } from '../../../../src/code/calls.js'
import { type EffectCall, EffectFailure } from '../../../../src/code/index.js'
import { type Hash, type Json, limits, Redactor } from '../../../../src/core/index.js'
import { encodings, formsIn } from '../../../support/secrets.js'

const secret = 'pa"ss/word+4711'

function performed(provider: Omit<Provider, 'name'>, redactor: Redactor, repeated = false) {
  const call = {
    effect: 'ask',
    request: null,
    requestHash: '' as Hash,
    seq: 0,
    sideEffects: 'non_idempotent',
    durable: false
  } as unknown as EffectRequest
  const signals = { signal: new AbortController().signal }
  const options = { key: '' as Hash, signals, repeated, principal: null, redactor }
  return perform(call, { name: 'ask', ...provider }, options as never)
}

function knowing(): Redactor {
  const redactor = new Redactor()
  redactor.know('env:KEY', secret)
  return redactor
}

/** Everything in which a secret could come back, in every form. */
const echo = Object.values(encodings).map((encode) => `it was ${encode(secret)}.`)

const failure: Provider['perform'] = () => {
  throw new EffectFailure(`refused ${secret}`, { details: { echo, [secret]: 1 } })
}

describe('K16: a secret that was read is not in what an effect gives', () => {
  const ways: readonly (readonly [string, Omit<Provider, 'name'>, boolean])[] = [
    ['an answer', { perform: () => ({ echo, [secret]: [secret] }) }, false],
    ['a failure', { perform: failure }, false],
    [
      'any error',
      {
        perform: () => {
          throw new TypeError(`cannot parse ${echo.join(' ')}`)
        }
      },
      false
    ],
    [
      'what was thrown and is no error',
      {
        perform: () => {
          throw `${secret} is wrong`
        }
      },
      false
    ],
    [
      'what is found of an earlier call',
      { perform: failure, locate: () => ({ found: true, result: echo }) },
      true
    ],
    [
      'what is found after a failure',
      { perform: failure, locate: () => ({ found: true, result: { echo } }) },
      false
    ],
    ['an answer that is no JSON', { perform: () => ({ [`$${secret}`]: 1 }) as Json }, false]
  ]

  it.each(ways)('in %s', async (_name, provider, repeated) => {
    const text = JSON.stringify(await performed(provider, knowing(), repeated))
    expect(formsIn(text, secret)).toEqual([])
    const alone = JSON.stringify(await performed(provider, new Redactor(), repeated))
    expect(formsIn(alone, JSON.stringify(secret).slice(1, -1))).not.toEqual([])
  })

  it('where the end of a message is cut off', async () => {
    const perform = () => {
      throw new Error(`${'.'.repeat(990)}${secret}`)
    }
    const text = JSON.stringify(await performed({ perform }, knowing()))
    expect(text).not.toContain(secret.slice(0, 2))
  })

  it('although the answer is as large as an answer may be', async () => {
    const redactor = new Redactor()
    redactor.know(`file:/${'long/'.repeat(200)}`, 'password')
    const large = 'password'.repeat(limits.VALUE_BYTES_MAX / 512)
    const performedOne = await performed({ perform: () => large }, redactor)
    expect(performedOne.kind).toBe('done')
    expect(JSON.stringify(performedOne)).not.toContain('password')
  })

  it('and learns it while the effect is performed', async () => {
    const redactor = new Redactor()
    const perform = async ({ key }: EffectCall) => {
      redactor.know('env:KEY', secret)
      return `${key}${secret}`
    }
    expect(await performed({ perform }, redactor)).toEqual({ kind: 'done', text: '"[env:KEY]"' })
  })
})
