import { describe, expect, it } from 'vitest'
import type { Provider } from '../../../../src/block/index.js'
import { perform } from '../../../../src/block/pump/performing.js'
import type { EffectRequest } from '../../../../src/code/calls.js'
import { type Hash, Redactor } from '../../../../src/core/index.js'

const answers = {
  'what was done': () => ({ found: true, result: 'found' }),
  'that nothing was done': () => ({ found: false, definite: true }),
  'that it cannot tell': () => ({ found: false, definite: false }),
  nothing: () => {
    throw new Error('it is not there')
  },
  'no question, since it takes none': undefined
} as const satisfies Readonly<Record<string, Provider['locate']>>
type Answer = keyof typeof answers

/** What is done of an effect that was sent before a crash, and what it gives. */
async function sentAgain(sideEffects: string, answer: Answer) {
  const did: string[] = []
  const look = answers[answer]
  const provider: Provider = {
    name: 'pay',
    perform: () => {
      did.push('sent')
      return 'sent'
    },
    ...(look === undefined
      ? {}
      : {
          locate: () => {
            did.push('looked')
            return look()
          }
        })
  }
  const call = { effect: 'pay', request: null, seq: 0, sideEffects } as unknown as EffectRequest
  const options = {
    key: 'k' as Hash,
    signals: { signal: new AbortController().signal },
    repeated: true,
    principal: null,
    redactor: new Redactor()
  }
  const performed = await perform(call, provider, options as never)
  return [did.join(), performed.kind === 'done' ? performed.text : performed.kind]
}

const unsure: readonly Answer[] = [
  'that it cannot tell',
  'nothing',
  'no question, since it takes none'
]

describe('a write that was sent before a crash', () => {
  it.each(['idempotent', 'non_idempotent'])(
    'L7: is looked for before it is sent again: %s',
    async (sideEffects) => {
      expect(await sentAgain(sideEffects, 'what was done')).toEqual(['looked', '"found"'])
      const absent = await sentAgain(sideEffects, 'that nothing was done')
      expect(absent).toEqual(['looked,sent', '"sent"'])
    }
  )

  it.each(unsure)(
    'L7: is sent again only under a key that its provider honours, when it says %s',
    async (answer) => {
      const looked = answers[answer] === undefined ? [] : ['looked']
      expect(await sentAgain('non_idempotent', answer)).toEqual([looked.join(), 'unknown'])
      const again = [...looked, 'sent'].join()
      expect(await sentAgain('idempotent', answer)).toEqual([again, '"sent"'])
    }
  )
})
