import { z } from 'zod'
import { type Hash, hashJson, type Json, TallyError } from '../core/index.js'
import type { Parsed } from './block-code.js'
import type { Compensation } from './compensation.js'
import type { BlockContext } from './context.js'
import type { KernelWork } from './intent-port.js'
import type { SideEffectClass } from './protocol.js'

/** A leaf block in TypeScript. Trusted: it runs in this process and is not sandboxed (K8). */
export interface BlockDefinition<Input = unknown, Output = unknown> {
  /** Dotted lower-case name, unique in a runtime: `invoice.pay`. */
  readonly name: string
  /** Change it whenever the behaviour changes; it is in every receipt. */
  readonly version: string
  /** What running it may do outside; unset means `non_idempotent` (B9). */
  readonly sideEffects?: SideEffectClass
  /** Effects it may ask for by name; the receipt says which of them it used. */
  readonly capabilities?: readonly string[]
  /** Actions of intents that it serves; `a` also serves `a.b` (K4). */
  readonly intents?: readonly string[]
  readonly input?: z.ZodType<Input>
  readonly output?: z.ZodType<Output>
  /**
   * How its writes are undone when an atomic composite around it is rolled back (C4). Without it,
   * or that of the effect's provider, a block that acts outside is refused in there.
   */
  readonly compensate?: Compensation
  /** Keeps the payload or result out of the receipt, behind a salted hash (formats.md §3). */
  readonly private?: { readonly input?: boolean; readonly output?: boolean }
  run(ctx: BlockContext, input: Input): Promise<Output> | Output
}

/** A checked definition, with the hash by which receipts name its code. */
export interface Block {
  readonly name: string
  readonly version: string
  readonly sideEffects: SideEffectClass
  readonly capabilities: readonly string[]
  /** Sorted. */
  readonly intents: readonly string[]
  readonly isInputPrivate: boolean
  readonly isOutputPrivate: boolean
  readonly compensate?: Compensation
  /** sha256(JCS({name, version, schemas})): declared, not measured. */
  readonly codeHash: Hash
  parseInput(value: Json): Parsed
  parseOutput(value: unknown): Parsed
  run(ctx: BlockContext, input: unknown): unknown
  /**
   * Its code changes nothing of what it is given, so that it may be given the definition's own
   * literals; for blocks of this library only.
   */
  readonly sharesInput?: true
  /**
   * Intents that it serves need a grant of its capabilities for its code hash (K5): its code is
   * a stranger's, as a tool's of an MCP server is.
   */
  readonly needsGrant?: true
  /**
   * It asks for no effect and no state, so that every principal may use it (K14); for blocks of
   * this library only.
   */
  readonly touchesNothing?: true
  /** Runs instead of `run`: the leaf is part of the kernel. */
  readonly kernel?: KernelWork
}

const blockName = /^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*$/
const intentName = /^[a-z][A-Za-z0-9_-]*(\.[A-Za-z][A-Za-z0-9_-]*)*$/

/**
 * Defines a leaf block. Throws `block.invalid_definition` for a bad name, version or schema.
 *
 * @example
 * const greet = defineBlock({
 *   name: 'greet',
 *   version: '1.0.0',
 *   sideEffects: 'none',
 *   input: z.object({ name: z.string() }),
 *   run: (ctx, input) => ({ text: `hello ${input.name}`, at: ctx.now() })
 * })
 */
export function defineBlock<Input, Output>(definition: BlockDefinition<Input, Output>): Block {
  const { name, version } = definition
  if (!blockName.test(name)) throw invalid(name, 'its name is not a dotted lower-case name')
  if (version === '') throw invalid(name, 'it has no version')
  const capabilities = [...new Set(definition.capabilities ?? [])].sort()
  const intents = [...new Set(definition.intents ?? [])].sort()
  const badIntent = intents.find((intent) => !intentName.test(intent))
  if (badIntent !== undefined) throw invalid(name, `its intent ${badIntent} is not a dotted name`)
  const schemas = {
    input: schemaOf(name, definition.input, 'input'),
    output: schemaOf(name, definition.output, 'output')
  }
  return Object.freeze<Block>({
    name,
    version,
    sideEffects: definition.sideEffects ?? 'non_idempotent',
    capabilities,
    intents,
    isInputPrivate: definition.private?.input ?? false,
    isOutputPrivate: definition.private?.output ?? false,
    ...(definition.compensate === undefined ? {} : { compensate: definition.compensate }),
    codeHash: hashJson({ name, version, schemas }),
    parseInput: (value) => parseWith(definition.input, value),
    parseOutput: (value) => parseWith(definition.output, value),
    // The schema has just produced the input that the definition's own type asks for.
    run: (ctx, input) => definition.run(ctx, input as Input)
  })
}

/** A block of this library that asks for no effect and no state. */
export function touchingNothing(block: Block): Block {
  return Object.freeze<Block>({ ...block, touchesNothing: true })
}

function parseWith(schema: z.ZodType | undefined, value: unknown): Parsed {
  if (schema === undefined) return { ok: true, value }
  const result = schema.safeParse(value)
  if (result.success) return { ok: true, value: result.data }
  const issue = result.error.issues[0]
  const path = issue === undefined ? '' : issue.path.map(String).join('.')
  return { ok: false, problem: `${path === '' ? 'value' : path}: ${issue?.code ?? 'invalid'}` }
}

function schemaOf(name: string, schema: z.ZodType | undefined, which: string): unknown {
  if (schema === undefined) return null
  try {
    const json: unknown = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' })
    return JSON.parse(JSON.stringify(json))
  } catch (cause) {
    throw invalid(name, `its ${which} schema cannot be written as JSON Schema`, cause)
  }
}

function invalid(name: string, problem: string, cause?: unknown): TallyError {
  return new TallyError('block.invalid_definition', { name, problem }, { cause })
}
