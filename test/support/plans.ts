import * as fc from 'fast-check'
import { type Block, defineBlock, EffectFailure } from '../../src/code/index.js'
import { hashJson, type Json, type JsonObject, nextTurn } from '../../src/core/index.js'
import type { World } from './lives.js'

/** What a generated node does. */
export type Deed = 'mix' | 'count' | 'look' | 'post' | 'ask' | 'nap' | 'fail' | 'judge'

export interface GeneratedNode {
  readonly id: string
  readonly deps: readonly string[]
  readonly deed: Deed
  readonly goesOn: boolean
}

/** Small dependency graphs, their nodes in any order. */
export function graphs(deeds: readonly Deed[]): fc.Arbitrary<readonly GeneratedNode[]> {
  const node = fc.record({
    deed: fc.constantFrom(...deeds),
    goesOn: fc.boolean(),
    picks: fc.array(fc.nat(), { maxLength: 3 }),
    key: fc.nat()
  })
  return fc.array(node, { minLength: 1, maxLength: 8 }).map((drafts) => {
    const nodes = drafts.map(({ deed, goesOn, picks, key }, index) => {
      const before = index === 0 ? [] : picks.map((pick) => `n${pick % index}`)
      return { key, node: { id: `n${index}`, deps: [...new Set(before)], deed, goesOn } }
    })
    return nodes.sort((one, other) => one.key - other.key).map((one) => one.node)
  })
}

export function planOf(nodes: readonly GeneratedNode[], more: JsonObject = {}): JsonObject {
  return {
    schema: 'tally-plan/1',
    name: 'generated',
    version: '1',
    ...more,
    nodes: nodes.map(({ id, deps, deed, goesOn }) => ({
      id,
      deps: [...deps],
      block: deed,
      on_error: goesOn ? 'continue' : 'stop',
      input: {
        object: {
          id: { lit: id },
          deps: { array: deps.map((dep) => ({ ref: `nodes.${dep}.response.data.result` })) }
        }
      }
    }))
  }
}

interface NodeInput {
  readonly id: string
  readonly deps: readonly Json[]
}

/** Blocks of generated plans; `delay` says for how many turns a node's effect takes. */
export function planBlocks(world: World, delay: (id: string) => number): readonly Block[] {
  const late = async <Value>(id: string, value: Value): Promise<Value> => {
    for (let turn = 0; turn < delay(id); turn += 1) await nextTurn()
    return value
  }
  const block = (
    name: Deed,
    run: (ctx: Parameters<Block['run']>[0], input: NodeInput) => Promise<Json> | Json,
    sideEffects: Block['sideEffects'] = 'none'
  ) =>
    defineBlock({
      name,
      version: '1',
      sideEffects,
      run: async (ctx, input) => ({ result: await run(ctx, input as NodeInput) })
    })
  return [
    block('mix', (_, input) => resultOf(input)),
    block('count', (ctx, { id }) => {
      const trail = ctx.state.get<string[]>('trail') ?? []
      ctx.state.set('trail', [...trail, id])
      return [...trail, id]
    }),
    block('look', async (ctx, input) => {
      await ctx.effect('look', {
        request: input.id,
        perform: async (call) => late(input.id, await world.look(call))
      })
      return resultOf(input)
    }),
    block(
      'post',
      async (ctx, input) => {
        await ctx.effect('post', {
          request: input.id,
          perform: async (call) => late(input.id, await world.actOnce(call))
        })
        return resultOf(input)
      },
      'idempotent'
    ),
    block('ask', async (ctx, input) => {
      await ctx.wait({ reason: 'external', request: input.id })
      return resultOf(input)
    }),
    block('nap', async (ctx, input) => {
      await ctx.sleep(1_000)
      return resultOf(input)
    }),
    // Fails or not by what it has read: nodes before it must have ended for that.
    block('judge', async (ctx, input) => {
      const trail = ctx.state.get<string[]>('trail') ?? []
      await ctx.effect('look', {
        request: input.id,
        perform: async (call) => late(input.id, await world.look(call))
      })
      return trail.length % 2 === 0 ? ctx.fail('even', { trail }) : resultOf(input)
    }),
    block('fail', async (ctx, input) => {
      await ctx.effect('look', {
        request: input.id,
        perform: async () => {
          await late(input.id, null)
          throw new EffectFailure('broken')
        }
      })
      return null
    })
  ]
}

function resultOf({ id, deps }: NodeInput): Json {
  return `${id}-${hashJson(deps).slice(0, 8)}`
}

export interface ExpectedNode {
  readonly status: string
  readonly result: Json
}

/**
 * The result of a plan, worked out one node after the other and without any chart: level by level,
 * within a level as declared, up to the first failure that is not let pass.
 */
export function reference(nodes: readonly GeneratedNode[]): ReadonlyMap<string, ExpectedNode> {
  const ends = new Map<string, ExpectedNode>()
  const trail: string[] = []
  const levels = new Map<string, number>()
  const levelOf = ({ id, deps }: GeneratedNode): number => {
    const known = levels.get(id)
    if (known !== undefined) return known
    const before = deps.map((dep) => nodes.find((node) => node.id === dep)).filter(isThere)
    const level = Math.max(-1, ...before.map(levelOf)) + 1
    levels.set(id, level)
    return level
  }
  const inOrder = [...nodes].sort((one, other) => levelOf(one) - levelOf(other))
  let isStopped = false
  for (const { id, deps, deed, goesOn } of inOrder) {
    const undone = deps.filter((dep) => ends.get(dep)?.status !== 'done')
    const isBlocked = undone.some((dep) =>
      ['failed', 'blocked'].includes(ends.get(dep)?.status ?? '')
    )
    if (isBlocked) ends.set(id, { status: 'blocked', result: null })
    else if (isStopped) ends.set(id, { status: 'cancelled', result: null })
    else if (deed === 'fail' || (deed === 'judge' && trail.length % 2 === 0)) {
      ends.set(id, { status: 'failed', result: null })
      isStopped = !goesOn
    } else {
      if (deed === 'count') trail.push(id)
      const inputs = deps.map((dep) => ends.get(dep)?.result ?? null)
      const result = deed === 'count' ? [...trail] : resultOf({ id, deps: inputs })
      ends.set(id, { status: 'done', result })
    }
  }
  return ends
}

function isThere<Value>(value: Value | undefined): value is Value {
  return value !== undefined
}
