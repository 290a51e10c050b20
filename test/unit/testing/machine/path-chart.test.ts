import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Block, defineBlock, defineWorkflow } from '../../../../src/code/index.js'
import { isTallyError, type Json } from '../../../../src/core/index.js'
import { type MachineTarget, verifyMachine } from '../../../../src/testing/index.js'
import { mermaidKind } from '../../../support/mermaid.js'

/** Texts that would end a label, a line or a diagram if they were not written as such. */
const marks = ['"', '#', '|', ']', ')', '}', ';', '%%', '-->', 'end', '`', '<b>', '\n', 'ä', '\\']

const put = (name: string): Block =>
  defineBlock({ name, version: '1.0.0', sideEffects: 'none', run: () => ({ kind: name }) })

/** The chart that the message of a counterexample ends with. */
async function chartOf(target: MachineTarget): Promise<string> {
  const never = { always: { 'nothing is done': () => false }, inputs: fc.constant<Json>({}) }
  try {
    await verifyMachine(target, { ...never, cases: 2 })
  } catch (error) {
    if (!isTallyError(error, 'testing.promise_broken')) throw error
    const [, chart = ''] = error.message.split('the chart, with the path:\n')
    return chart.slice(0, chart.indexOf('\n\n') < 0 ? undefined : chart.indexOf('\n\n') + 1)
  }
  throw new Error('it is not found')
}

describe('the chart of a counterexample', () => {
  it.each(marks)('is read by Mermaid, whatever its conditions say: %j', async (mark) => {
    const chart = await chartOf({
      blocks: [put('look'), put('left'), put('right')],
      document: {
        schema: 'tally-composite/1',
        name: 'branching',
        version: '1.0.0',
        entry_point: 'look',
        nodes: { look: { block: 'look' }, left: { block: 'left' }, end: { block: 'right' } },
        transitions: {
          look: [
            { condition: { cel: `response.data.kind == ${JSON.stringify(mark)}` }, target: 'left' },
            { condition: 'default', target: 'end' }
          ]
        }
      }
    })
    expect(chart).toContain('flowchart TD')
    expect(await mermaidKind(chart)).toBe('flowchart-v2')
  })

  it('is read by Mermaid: a plan, and a workflow in code', async () => {
    const plan = await chartOf({
      blocks: [put('look'), put('left')],
      document: {
        schema: 'tally-plan/1',
        name: 'side',
        version: '1.0.0',
        nodes: [
          { id: 'look', block: 'look' },
          { id: 'end', block: 'left', deps: ['look'] }
        ]
      }
    })
    const block = put('look')
    const code = defineWorkflow({
      name: 'code',
      version: '1.0.0',
      blocks: [block],
      run: async (ctx) => {
        await ctx.step('end', block, null)
        await ctx.atomic('both', async (scope) => scope.step('class', block, null))
      }
    })
    for (const chart of [plan, await chartOf(code)]) {
      expect(await mermaidKind(chart)).toBe('flowchart-v2')
    }
  })

  it('would not be read with a label that was not written as one', async () => {
    await expect(mermaidKind('flowchart TD\n  a["x"]\n  b[say (no)]\n')).rejects.toThrow(
      /Parse error on line 3/
    )
  })
})
