import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineBlock, type EffectCall } from '../../../../src/code/index.js'
import { isTallyError, type Json } from '../../../../src/core/index.js'
import {
  type MachineBounds,
  type MachineOptions,
  verifyCase,
  verifyMachine
} from '../../../../src/testing/index.js'

function paying(performed: EffectCall[], isOfBlock: boolean) {
  const perform = (call: EffectCall) => {
    performed.push(call)
    return 'really paid'
  }
  const block = defineBlock({
    name: 'pays',
    version: '1.0.0',
    sideEffects: 'idempotent',
    run: async (ctx) => ({
      paid: await ctx.effect('pay', { request: {}, ...(isOfBlock ? { perform } : {}) })
    })
  })
  const document = {
    schema: 'tally-composite/1',
    name: 'paying',
    version: '1.0.0',
    entry_point: 'pay',
    nodes: { pay: { block: 'pays' } }
  }
  const providers = isOfBlock
    ? []
    : [{ name: 'pay', version: '1', perform: async (call: EffectCall) => perform(call) }]
  return { document, blocks: [block], providers }
}

/** What a run of it gives. */
async function paidBy(isOfBlock: boolean, answer: 'own' | (() => Json)) {
  const performed: EffectCall[] = []
  const paid: unknown[] = []
  await verifyCase(
    paying(performed, isOfBlock),
    { inputs: [{}] },
    {
      effects: { pay: { answer } },
      eventually: {
        seen: ({ results }) => paid.push(...results.map(({ response }) => response.data)) > 0
      }
    }
  )
  return { performed: performed.length, paid }
}

describe('the world of a case', () => {
  it.each([
    ['the block', true],
    ['a provider', false]
  ])('M2: answers instead of %s, which performs only what is its own', async (_, isOfBlock) => {
    const instead = await paidBy(isOfBlock, () => 'as if')
    expect(instead.performed).toBe(0)
    expect(instead.paid).toContainEqual({ paid: 'as if' })
    const own = await paidBy(isOfBlock, 'own')
    expect(own.performed).toBeGreaterThan(0)
    expect(own.paid).toContainEqual({ paid: 'really paid' })
  })
})

const grows = defineBlock({
  name: 'grows',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => {
    const text = await ctx.effect<string>('read', { request: {} })
    ctx.state.set('text', text)
    return {}
  }
})
const growing = {
  blocks: [grows],
  document: {
    schema: 'tally-composite/1',
    name: 'growing',
    version: '1.0.0',
    entry_point: 'one',
    nodes: { one: { block: 'grows' }, two: { block: 'grows' } },
    transitions: { one: 'two' }
  }
}
const enough: Required<MachineBounds> = {
  steps: 3,
  effects: 2,
  stateBytes: 'text'.length + '"é"'.length + 1,
  journalBytes: 10_000
}
const given: MachineOptions = {
  inputs: fc.constant<Json>({}),
  effects: { read: { answer: () => 'é', troubles: [] } },
  cases: 1
}

describe('bounds of a play', () => {
  it('are kept by what stays within them', async () => {
    expect(await verifyMachine(growing, { ...given, bounds: enough })).toMatchObject({ cases: 1 })
  })

  it.each(Object.entries(enough))('are exceeded by one more: %s', async (bound, count) => {
    const least = bound === 'journalBytes' ? 100 : count - 1
    const error = await verifyMachine(growing, {
      ...given,
      bounds: { ...enough, [bound]: least }
    }).catch((thrown: unknown) => thrown)
    if (!isTallyError(error, 'testing.promise_broken')) throw error
    expect(error.context.promise).toBe('bounded')
  })
})
