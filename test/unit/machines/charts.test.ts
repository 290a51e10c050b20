import { describe, expect, it } from 'vitest'
import { createMachine } from 'xstate'
import { blockChart } from '../../../machines/block.js'
import { type ChartNode, compositeChart } from '../../../machines/composite.js'
import { intentChart } from '../../../machines/intent.js'
import { leafFunctions } from '../../../src/block/chart/leaf.js'
import { atOnce } from '../../../src/core/index.js'

const template = {
  id: 'demo',
  entry: 'a',
  hasOutput: true,
  nodes: [
    { name: 'a', hasInput: true, kept: true, branches: [{ target: 'a', condition: 'again' }] },
    { name: 'b', hasInput: false, kept: false, branches: [] }
  ]
}

const charts: Readonly<Record<string, unknown>> = {
  block: blockChart,
  intent: intentChart,
  composite: atOnce(compositeChart({ ...template, scoped: false })),
  scoped: atOnce(compositeChart({ ...template, scoped: true }))
}

/** Every reference of a kind in a chart, however it is written. */
function references(value: unknown, key: 'guard' | 'actions'): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => references(item, key))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) =>
    name === key ? [item].flat().map(nameOf) : references(item, key)
  )
}

function nameOf(reference: unknown): string {
  if (typeof reference === 'string') return reference
  return (reference as { readonly type: string }).type
}

describe.each(Object.entries(charts))('chart %s', (_, chart) => {
  it('is JSON: it survives a round trip', () => {
    expect(JSON.parse(JSON.stringify(chart))).toEqual(chart)
  })

  it('is accepted by createMachine, which finds every target', () => {
    const machine = createMachine(JSON.parse(JSON.stringify(chart)))
    expect(machine.getStateNodeById((chart as ChartNode).id ?? '').id).toBe((chart as ChartNode).id)
  })

  it('has a version, no wildcard and no delayed transition', () => {
    const text = JSON.stringify(chart)
    expect((chart as ChartNode).version).toMatch(/^\d+$/)
    expect(text).not.toMatch(/"\*"|"after"|"invoke"|"entry"|"exit"/)
  })
})

describe('block chart', () => {
  const { guards, actions } = leafFunctions({ repair: () => undefined })

  it('names only functions that exist, and all of them', () => {
    expect(new Set(references(blockChart, 'guard'))).toEqual(new Set(Object.keys(guards)))
    expect(new Set(references(blockChart, 'actions'))).toEqual(new Set(Object.keys(actions)))
  })
})
