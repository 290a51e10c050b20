import { blockError, type Hash, hashJson, type Json, withoutUndefined } from '../core/index.js'
import type { BlockQueue } from '../queue/index.js'
import { type Block, defineBlock, type FunctionBody } from './block.js'
import { FunctionContext } from './function-context.js'
import type { SideEffectClass } from './request.js'
import {
  parserOf,
  type SchemaInput,
  type SchemaOutput,
  schemaOf,
  type TypedSchema
} from './schema.js'
import type { WorkflowContext } from './workflow-context.js'

/** Name of the definition's schema, and what tells a function's definition from others. */
export const functionSchemaName = 'tally-function/1'

/** A workflow function as `run.started` keeps it: plain JSON. Its code is declared only. */
export interface FunctionDefinition {
  readonly schema: typeof functionSchemaName
  readonly name: string
  readonly version: string
  readonly schemas: { readonly input: Json; readonly output: Json }
  /** None: what its code does next is known when it does it. */
  readonly nodes: Readonly<Record<string, never>>
}

/**
 * A workflow in code (B12): what {@link defineWorkflow} gives. The types are those of what a run is
 * started with and what it gives.
 */
export interface Workflow<Input = unknown, Output = unknown> {
  readonly kind: 'workflow'
  readonly definition: FunctionDefinition
  readonly name: string
  readonly version: string
  /** Blocks that its steps may call; registered with it. */
  readonly blocks: readonly Block[]
  /** Where its runs wait for their turn; of no influence on its definition. */
  readonly queue?: BlockQueue
  /** Its code as the attempt at the root of a run, where `block` leads to what it may call. */
  readonly body: (block: (reference: string) => Block | undefined) => Block
  /** Never there: for the compiler alone. */
  readonly types?: { readonly input: Input; readonly output: Output }
}

/** What a workflow function is defined by; `input` and `output` are schemas. */
export interface WorkflowDefinition {
  /** Dotted lower-case name, unique in a runtime: `order.checkout`. */
  readonly name: string
  /** Change it whenever what the code does changes: open runs go on with theirs (B10). */
  readonly version: string
  /** Blocks that its steps call. */
  readonly blocks?: readonly Block[]
  /** Keeps input or result out of the receipt of the run, behind a salted hash. */
  readonly private?: { readonly input?: boolean; readonly output?: boolean }
  /** Where its runs wait for their turn; one that another run waits for has it with that. */
  readonly queue?: string | BlockQueue
}

/**
 * Defines a workflow in code: an async function whose steps are blocks, each with a receipt. After
 * a crash the function runs again from its first line and is given the results of the steps that it
 * has done, so it may wait only for what `ctx` gives, and decide only by that.
 *
 * Throws `block.invalid_definition` for a bad name, version or schema.
 *
 * @example
 * const checkout = defineWorkflow({
 *   name: 'checkout',
 *   version: '1.0.0',
 *   input: z.object({ order: z.string(), amount: z.number() }),
 *   async run(ctx, { order, amount }) {
 *     const payment = await ctx.step('charge', () => charge(order, amount))
 *     await ctx.sleep('1d')
 *     return { payment }
 *   }
 * })
 */
export function defineWorkflow<InputSchema extends TypedSchema, OutputSchema extends TypedSchema>(
  definition: WorkflowDefinition & {
    readonly input: InputSchema
    readonly output: OutputSchema
    run(
      ctx: WorkflowContext,
      input: SchemaOutput<InputSchema>
    ): Promise<SchemaInput<OutputSchema>> | SchemaInput<OutputSchema>
  }
): Workflow<SchemaInput<InputSchema>, SchemaOutput<OutputSchema>>
export function defineWorkflow<InputSchema extends TypedSchema, Output>(
  definition: WorkflowDefinition & {
    readonly input: InputSchema
    readonly output?: undefined
    run(ctx: WorkflowContext, input: SchemaOutput<InputSchema>): Promise<Output> | Output
  }
): Workflow<SchemaInput<InputSchema>, Output>
export function defineWorkflow<Input, OutputSchema extends TypedSchema>(
  definition: WorkflowDefinition & {
    readonly input?: undefined
    readonly output: OutputSchema
    run(
      ctx: WorkflowContext,
      input: Input
    ): Promise<SchemaInput<OutputSchema>> | SchemaInput<OutputSchema>
  }
): Workflow<Input, SchemaOutput<OutputSchema>>
export function defineWorkflow<Input, Output>(
  definition: WorkflowDefinition & {
    readonly input?: undefined
    readonly output?: undefined
    run(ctx: WorkflowContext, input: Input): Promise<Output> | Output
  }
): Workflow<Input, Output>
export function defineWorkflow(
  given: WorkflowDefinition & {
    readonly input?: TypedSchema | undefined
    readonly output?: TypedSchema | undefined
    run(ctx: WorkflowContext, input: unknown): unknown
  }
): Workflow<unknown, unknown> {
  const { name, version, input, output, blocks = [] } = given
  // Its name, version and privacy are those of a block, and checked as such.
  const plain = defineBlock({
    name,
    version,
    run: () => null,
    ...(given.private === undefined ? {} : { private: given.private }),
    ...(given.queue === undefined ? {} : { queue: given.queue })
  })
  const { queue, ...code } = plain
  const schemas = {
    input: schemaOf(name, input, 'input'),
    output: schemaOf(name, output, 'output')
  }
  const definition: FunctionDefinition = {
    schema: functionSchemaName,
    name,
    version,
    schemas,
    nodes: {}
  }
  const known = new Map(blocks.map((block) => [`${block.name}@${block.version}`, block]))
  if (known.size < blocks.length) {
    const problem = 'it names a block twice in one version'
    throw blockError('block.invalid_definition', { name, problem })
  }
  const own = {
    codeHash: hashJson(definition as unknown as Json),
    parseInput: parserOf(input),
    parseOutput: outputOf(parserOf(output))
  }
  const body = (block: (reference: string) => Block | undefined): Block => {
    const declared = (reference: string) => (known.has(reference) ? block(reference) : undefined)
    const terms = { name, version, block: declared }
    const run: FunctionBody['run'] = (port, value) =>
      given.run(new FunctionContext(port, terms), value)
    return Object.freeze<Block>({ ...code, ...own, body: { run } })
  }
  const queued = queue === undefined ? {} : { queue }
  return Object.freeze({ kind: 'workflow', definition, name, version, blocks, ...queued, body })
}

function outputOf(parse: Block['parseOutput']): Block['parseOutput'] {
  return (value) => {
    const parsed = parse(value)
    return parsed.ok ? { ok: true, value: withoutUndefined(parsed.value) ?? null } : parsed
  }
}

/** Whether a value is what {@link defineWorkflow} gives. */
export function isWorkflow(value: unknown): value is Workflow {
  if (typeof value !== 'object' || value === null) return false
  return 'kind' in value && value.kind === 'workflow' && 'body' in value && 'definition' in value
}

/**
 * The leaf of a step that is a function: code of its workflow's version, which does one effect. The
 * function itself is known while the workflow's code runs; its result is sealed.
 */
export function functionBlock(workflow: string, step: string, version: string): Block {
  const name = `${workflow}.${step}`
  const codeHash: Hash = hashJson({ name, version, schemas: { input: null, output: null } })
  const plain = defineBlock({ name: 'function', version, run: () => null })
  const of = (sideEffects: SideEffectClass): Block =>
    Object.freeze<Block>({
      ...plain,
      name,
      sideEffects,
      codeHash,
      classed: of,
      run: (ctx, input) => ctx.effect(name, { request: input as Json, sideEffects })
    })
  return of('non_idempotent')
}
