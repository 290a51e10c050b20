import { expect, it } from 'vitest'
import { defineWorkflow, type WorkflowContext } from '../../src/code/index.js'
import { isLong, isSoak } from '../support/effort.js'
import type { World } from '../support/lives.js'
import { note } from '../support/note.js'
import { type Outcome, runScenario } from '../support/run-to-end.js'

/**
 * B12, D6: whatever calls the code of a workflow makes beside each other, it asks for them again
 * when its process has died, wherever that was, and ends as it would have.
 */

const leg = defineWorkflow({
  name: 'leg',
  version: '1.0.0',
  run: async (ctx) => ctx.step('walk', () => 'walked', null, { sideEffects: 'none' })
})

type Make = (ctx: WorkflowContext, name: string, world: World) => Promise<unknown>

const calls: Readonly<Record<string, Make>> = {
  write: (ctx, name, world) =>
    ctx.step(name, (request, { key }) => world.actOnce({ key, request }), name, {
      sideEffects: 'idempotent'
    }),
  read: (ctx, name) => ctx.step(name, () => name, null, { sideEffects: 'none' }),
  block: (ctx, name) => ctx.step(name, note, name),
  sleep: (ctx) => ctx.sleep(5),
  signal: (ctx, name) => ctx.signal(name),
  wait: async (ctx, name) => (await ctx.wait({ reason: 'external', request: name })).value,
  late: (ctx, name) => ctx.signal(name, undefined, { timeoutMs: 3 }),
  atomic: (ctx, name) => ctx.atomic(name, (scope) => scope.step('note', note, name)),
  child: (ctx, name) => ctx.child(leg, null, { id: `${ctx.runId}-${name}` }),
  publish: (ctx, name) => ctx.publish(name, 'published'),
  tags: (ctx, name) => ctx.setTags([name])
}

const names = Object.keys(calls)
const pairs = names.flatMap((one) => names.map((other) => [one, other] as const))

const scenarioOf = (pair: readonly string[]) => ({
  document: null,
  inputs: null,
  workflow: 'beside',
  registrations: (world: World) => {
    const beside = defineWorkflow({
      name: 'beside',
      version: '1.0.0',
      blocks: [note],
      run: async (ctx) => {
        const made = pair.map((name, place) => calls[name]?.(ctx, `${name}-${place}`, world))
        return (await Promise.all(made)).map((given) => given ?? null)
      }
    })
    return { blocks: [note], workflows: [beside, leg] }
  }
})

/** What is left in the end; two runs may leave their receipts in either order. */
function leftOf({ result, state, receipts, machine }: Outcome) {
  const { status, response } = result
  const units = receipts.map(({ intent, resultHash }) => `${intent} ${resultHash}`).sort()
  return { status, response, state, units, repeated: machine.world.repeated() }
}

/** One pair in so many. */
const every = isSoak ? 1 : isLong ? 2 : 6

it.each(pairs.filter((_, place) => place % every === 0))(
  'B12, D6: %s beside %s, killed anywhere',
  async (...pair) => {
    const scenario = scenarioOf(pair)
    const whole = await runScenario(scenario)
    expect(whole.result.status).toBe('done')
    for (let at = 1; at <= whole.boundaries; at += 1) {
      const left = leftOf(await runScenario(scenario, [at]))
      expect(left, `killed at ${at} of ${whole.boundaries}`).toEqual(leftOf(whole))
    }
  }
)
