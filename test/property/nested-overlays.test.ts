import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import { crashEverywhere } from '../support/crash-everywhere.js'
import { runScenario } from '../support/run-to-end.js'

/** Each step puts a key of its own, takes one away, and says which keys it sees. */
const put = (name: string) =>
  defineBlock({
    name,
    version: '1.0.0',
    sideEffects: 'none',
    run: async (ctx) => {
      const before = await ctx.state.list('k/')
      ctx.state.set(`k/${name}`, ctx.path)
      if (name === 'inner') ctx.state.delete('k/outer')
      if (name === 'deep') ctx.state.delete('k/before')
      if (name === 'fails') ctx.fail('on_purpose')
      const after = await ctx.state.list('k/')
      ctx.state.set(`seen/${ctx.path}`, { before, after })
      return null
    }
  })

const names = ['before', 'outer', 'inner', 'deep', 'dropped', 'fails', 'behind', 'last'] as const
const block = (name: (typeof names)[number]) => ({ block: name })

const document = {
  schema: 'tally-composite/1',
  name: 'nested',
  version: '1.0.0',
  entry_point: 'before',
  nodes: {
    before: block('before'),
    a: {
      composite: {
        atomic: true,
        entry_point: 'outer',
        nodes: {
          outer: block('outer'),
          b: {
            composite: {
              atomic: true,
              entry_point: 'inner',
              nodes: {
                inner: block('inner'),
                c: { composite: { entry_point: 'deep', nodes: { deep: block('deep') } } },
                lost: {
                  on_error: 'ask',
                  composite: {
                    entry_point: 'dropped',
                    nodes: { dropped: block('dropped'), fails: block('fails') },
                    transitions: { dropped: 'fails' }
                  }
                },
                behind: block('behind')
              },
              transitions: { inner: 'c', c: 'lost', lost: 'behind' }
            }
          },
          behind: block('behind')
        },
        transitions: { outer: 'b', b: 'behind' }
      }
    },
    last: block('last')
  },
  transitions: { before: 'a', a: 'last' }
} as const

const scenario = {
  document: JSON.parse(JSON.stringify(document)),
  inputs: {},
  registrations: () => ({ blocks: names.map(put) })
}

describe('lists inside nested atomic composites', () => {
  it('C4: see what every overlay around has put and taken away, and nothing rolled back', async () => {
    const { result, receipts, state } = await runScenario(scenario)
    expect(result.status).toBe('done')
    const results = new Map(receipts.map(({ intent, inputPayload }) => [intent, inputPayload]))
    expect([...results.keys()]).toEqual(['before', 'nested.a', 'last', 'run.completed'])
    const entries: readonly (readonly [string, string])[] = JSON.parse(state)
    const text = (prefix: string) => entries.filter(([key]) => key.startsWith(prefix))
    expect(text('k/').map(([key]) => key)).toEqual(['k/behind', 'k/deep', 'k/inner', 'k/last'])
    const seen = Object.fromEntries(text('seen/').map(([key, value]) => [key, JSON.parse(value)]))
    const all = ['k/deep', 'k/inner']
    expect(seen).toEqual({
      'seen/root/before': { before: [], after: ['k/before'] },
      'seen/root/a/outer': { before: ['k/before'], after: ['k/before', 'k/outer'] },
      'seen/root/a/b/inner': {
        before: ['k/before', 'k/outer'],
        after: ['k/before', 'k/inner']
      },
      'seen/root/a/b/c/deep': { before: ['k/before', 'k/inner'], after: all },
      'seen/root/a/b/behind': { before: all, after: ['k/behind', ...all] },
      'seen/root/a/behind': { before: ['k/behind', ...all], after: ['k/behind', ...all] },
      'seen/root/last': { before: ['k/behind', ...all], after: ['k/behind', ...all, 'k/last'] }
    })
  })

  it('C4, D6: see the same after a crash at any boundary', async () => {
    expect(await crashEverywhere(scenario)).toBeGreaterThan(5)
  })
})
