import { describe, expect, it } from 'vitest'
import { type AnyStateMachine, createActor, createMachine } from 'xstate'
import type { ChartNode } from '../../../../machines/composite.js'
import { drawSource } from '../../../../src/block/document/draw.js'
import { messagesOf } from '../../../support/inspected.js'
import { journalScenes } from '../../../support/journal-scenes.js'

/** The machine of an exported text, as a program that imports the file has it. */
function machineOf(text: string): AnyStateMachine {
  const body = text.replace(/^import .*$/m, '').replace('export const m =', 'return')
  return new Function('createMachine', body)(createMachine) as AnyStateMachine
}

/** Guards of a chart, each as an event names it. */
function guardsIn(node: ChartNode): readonly unknown[] {
  const lists = [...Object.values(node.on ?? {}), node.always ?? []].flat()
  const own = lists.flatMap(({ guard }) => (guard === undefined ? [] : [guard]))
  return [...own, ...Object.values(node.states ?? {}).flatMap(guardsIn)]
}

/** What an event has to name for a machine to get from one state to another, if anything does. */
function takenTo(
  machine: AnyStateMachine,
  chart: ChartNode,
  from: string,
  to: unknown,
  type: string
) {
  const guards = guardsIn(chart)
  const pairs = guards.flatMap((one) => guards.map((other) => [one, other]))
  const snapshot = machine.resolveState({ value: from, context: {} })
  return [[], ...guards.map((one) => [one]), ...pairs].find(($take) => {
    const actor = createActor(machine, { snapshot }).start()
    actor.send({ type, $take })
    return JSON.stringify(actor.getSnapshot().value) === JSON.stringify(to)
  })
}

describe('the exported source of a chart', () => {
  it.each(Object.keys(journalScenes))(
    'is a machine that walks as the recorded run did: %s',
    async (name) => {
      const messages = (await messagesOf(name, { payloads: false })).flat()
      const walked = new Map<
        string,
        { machine: AnyStateMachine; chart: ChartNode; value: string }
      >()
      let steps = 0
      for (const message of messages) {
        const { sessionId } = message
        if (message.type === '@xstate.actor') {
          const chart = JSON.parse(message.definition)
          const value = message.snapshot['value'] as string
          walked.set(sessionId, { machine: machineOf(drawSource(chart)), chart, value })
        }
        const at = walked.get(sessionId)
        if (message.type !== '@xstate.snapshot' || message.snapshot.status !== 'active') continue
        if (at === undefined) throw new Error(`unknown: ${sessionId}`)
        const value = message.snapshot['value'] as string
        const { type } = message.event
        const $take = takenTo(at.machine, at.chart, at.value, value, type)
        expect($take, `${sessionId}: ${at.value} ${type} ${value}`).toBeDefined()
        at.value = value
        steps += 1
      }
      expect(steps).toBeGreaterThan(0)
    }
  )
})
