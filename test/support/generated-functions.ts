import fc from 'fast-check'
import {
  type Block,
  defineWorkflow,
  type StepOptions,
  type StepScope,
  type Workflow,
  type WorkflowContext
} from '../../src/code/index.js'
import type { Json } from '../../src/core/index.js'
import type { RunHandle } from '../../src/runtime/index.js'
import {
  type GeneratedNode,
  generatedNode,
  type Outside,
  type ProgramStep,
  programBlock,
  slowly
} from './programs.js'
import type { PlayedCode, PlayedRun } from './side-by-side.js'

/** Acts that are steps with a function of the program. */
type FunctionAct = 'look' | 'post' | 'act' | 'lose' | 'queued' | 'slow' | 'late'

/** One act of a generated workflow in code; where it goes depends on what it has been given. */
export type Act =
  | { readonly do: FunctionAct | 'wait' | 'wait in time' | 'signal' }
  | { readonly do: 'signal in time' | 'sleep' | 'publish' | 'tags' | 'draw' | 'fail' }
  | { readonly do: 'block'; readonly node: GeneratedNode }
  | { readonly do: 'atomic'; readonly parts: readonly ScopePart[]; readonly throws: boolean }
  | { readonly do: 'all' | 'race' | 'forget' | 'catch' | 'child'; readonly acts: readonly Act[] }
  | { readonly do: 'branch'; readonly odd: readonly Act[]; readonly even: readonly Act[] }

/** What is done in an atomic part: steps in order, or at once. */
export interface ScopePart {
  readonly nodes: readonly GeneratedNode[]
  readonly isAtOnce: boolean
}

const plainAct: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('look', 'post', 'act', 'wait', 'signal', 'sleep')
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('lose', 'wait in time', 'signal in time', 'publish', 'tags', 'draw')
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('queued', 'slow', 'late')
    })
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail') }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('block'), node: generatedNode })
  }
) as fc.Arbitrary<Act>

const scopePart: fc.Arbitrary<ScopePart> = fc.record({
  nodes: fc.array(generatedNode, { minLength: 1, maxLength: 2 }),
  isAtOnce: fc.boolean()
})

const few = fc.array(plainAct, { minLength: 1, maxLength: 3 })

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: plainAct },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('all', 'race', 'forget', 'catch', 'child'),
      acts: few
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('atomic'),
      parts: fc.array(scopePart, { maxLength: 2 }),
      throws: fc.constantFrom(false, false, true)
    })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('branch'), odd: few, even: few }) }
) as fc.Arbitrary<Act>

/** What a generated workflow in code does. */
export const generatedActs: fc.Arbitrary<readonly Act[]> = fc.array(act, {
  minLength: 1,
  maxLength: 6
})

const NAME = 'generated'

/** The workflow in code that carries out generated acts, and what it has begun. */
export class GeneratedFunctions {
  readonly #outside: Outside
  readonly #children = new Set<string>()
  readonly #program: Block
  readonly #workflow: Workflow<readonly Act[], Json>

  constructor(outside: Outside) {
    this.#outside = outside
    this.#program = programBlock(outside)
    this.#workflow = defineWorkflow({
      name: NAME,
      version: '1.0.0',
      blocks: [this.#program],
      run: async (ctx, acts: readonly Act[]): Promise<Json> => {
        const code = new Code(ctx, {
          outside: this.#outside,
          program: this.#program,
          workflow: this.#workflow,
          children: this.#children
        })
        await code.run(acts)
        return { seen: code.seen }
      }
    })
  }

  get code(): PlayedCode {
    const registrations = {
      blocks: [this.#program],
      workflows: [this.#workflow],
      queues: { desk: { concurrency: 1 } }
    }
    return { registrations, children: this.#children }
  }
}

export function playedFunction(acts: readonly Act[]): PlayedRun {
  return {
    begin: (tally, id, { workflows = [] }) => {
      const workflow = workflows.find(({ name }) => name === NAME)
      if (workflow === undefined) throw new Error(`no workflow: ${NAME}`)
      return tally.begin(workflow, acts, { id }) as RunHandle
    }
  }
}

interface CodeParts {
  readonly outside: Outside
  readonly program: Block
  readonly workflow: Workflow<readonly Act[], Json>
  readonly children: Set<string>
}

/** One execution of the code: what it was given decides where it goes and what it asks. */
class Code {
  seen = 0
  readonly #ctx: WorkflowContext
  readonly #parts: CodeParts
  #begun = 0

  constructor(ctx: WorkflowContext, parts: CodeParts) {
    this.#ctx = ctx
    this.#parts = parts
  }

  async run(acts: readonly Act[]): Promise<void> {
    for (const one of acts) this.#see(await this.#do(one))
  }

  async #do(one: Act): Promise<number> {
    const ctx = this.#ctx
    const { seen } = this
    switch (one.do) {
      case 'look':
      case 'post':
      case 'act':
      case 'lose':
      case 'queued':
      case 'slow':
      case 'late':
        return this.#function(one.do)
      case 'block':
        return this.#block(ctx, one.node)
      case 'wait':
        return numberIn((await ctx.wait({ reason: 'external', request: { seen } })).value)
      case 'wait in time': {
        const asked = { reason: 'external', request: { seen }, timeoutMs: 4 } as const
        return numberIn((await ctx.wait(asked)).value)
      }
      case 'signal':
        return numberIn(await ctx.signal(`item ${seen % 2}`))
      case 'signal in time':
        return numberIn(await ctx.signal(`item ${seen % 2}`, undefined, { timeoutMs: 4 }))
      case 'sleep':
        await ctx.sleep(1 + (seen % 5))
        return 1
      case 'publish':
        await ctx.publish(`at ${seen % 2}`, seen)
        return 1
      case 'tags':
        await ctx.setTags([`seen ${seen % 3}`])
        return 1
      case 'draw':
        return Math.floor(ctx.random() * 5) + (ctx.now() % 3) + ctx.uuid().length
      case 'fail':
        return seen % 2 === 1 ? ctx.fail('odd', { seen }) : 1
      case 'atomic':
        return this.#atomic(one)
      case 'all':
        return total(await ctx.all(one.acts.map((part) => this.#do(part))))
      case 'race':
        return ctx.race(one.acts.map((part) => this.#do(part)))
      case 'forget':
        for (const part of one.acts) this.#do(part).catch(() => undefined)
        return 1
      case 'catch':
        return this.#caught(one.acts)
      case 'child':
        return this.#child(one.acts)
      case 'branch':
        await this.run(seen % 2 === 1 ? one.odd : one.even)
        return 1
    }
  }

  #see(value: number): void {
    this.seen = (this.seen * 3 + value) % 97
  }

  async #function(kind: FunctionAct): Promise<number> {
    const { outside } = this.#parts
    const { world } = outside
    const request = { run: this.#ctx.runId, seen: this.seen }
    if (kind === 'look') {
      await this.#ctx.step(kind, (input) => world.look({ request: input }), request, {
        sideEffects: 'none'
      })
      return 1
    }
    if (kind === 'lose') {
      const lose = (): Json => {
        throw new Error('lost')
      }
      await this.#ctx.step(kind, lose, request)
      return 3
    }
    const isSlow = kind === 'slow' || kind === 'late' || kind === 'queued'
    const perform = (input: Json, { key }: { readonly key: string }) => {
      const act = () => world.actOnce({ request: input, key })
      return isSlow ? slowly(outside, act) : act()
    }
    await this.#ctx.step(kind, perform, request, {
      sideEffects: kind === 'act' || kind === 'late' ? 'non_idempotent' : 'idempotent',
      ...(kind === 'queued' ? { queue: 'desk' } : {}),
      ...(kind === 'late' ? { timeout: 4 } : {})
    })
    return 2
  }

  async #block(scope: StepScope, node: GeneratedNode): Promise<number> {
    const { steps, retries, confirm, asks, timeout } = node
    const options: StepOptions = {
      ...(retries === 0 ? {} : { retry: { attempts: retries + 1, interval: 2 } }),
      ...(confirm ? { confirm: true } : {}),
      ...(asks ? { onError: 'ask' } : {}),
      ...(timeout === 0 ? {} : { timeout })
    }
    const input: { readonly steps: readonly ProgramStep[] } = { steps }
    const given = await scope.step('program', this.#parts.program, input, options)
    return numberIn((given as { readonly seen?: Json } | null)?.seen)
  }

  async #atomic({ parts, throws }: Extract<Act, { do: 'atomic' }>): Promise<number> {
    return this.#ctx.atomic('part', async (scope) => {
      let sum = 0
      for (const { nodes, isAtOnce } of parts) {
        const begun = nodes.map((node) => () => this.#block(scope, node))
        if (isAtOnce) sum += total(await scope.all(begun.map((begin) => begin())))
        else for (const begin of begun) sum += await begin()
      }
      if (throws && sum % 2 === 1) throw new Error('not so')
      return sum
    })
  }

  async #caught(acts: readonly Act[]): Promise<number> {
    try {
      await this.run(acts)
      return 1
    } catch {
      return 4
    }
  }

  async #child(acts: readonly Act[]): Promise<number> {
    this.#begun += 1
    const id = `${this.#ctx.runId}-${this.#begun}`
    this.#parts.children.add(id)
    const given = await this.#ctx.child(this.#parts.workflow, acts, { id })
    return numberIn((given as { readonly seen?: Json }).seen)
  }
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

function numberIn(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
