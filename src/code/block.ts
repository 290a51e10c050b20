import type { z } from 'zod-pinned'
import {
  type Approvers,
  blockError,
  type Hash,
  hashJson,
  type Json,
  type TallyError,
  type UnitId
} from '../core/index.js'
import { type BlockQueue, blockQueue } from '../queue/index.js'
import type { Call } from './calls.js'
import type { Compensation } from './compensation.js'
import type { BlockContext, EffectCall, Located, WaitAnswer, WaitOptions } from './context.js'
import {
  type BlockObligation,
  type BoundObligations,
  type DeclaredObligation,
  declaredObligation,
  type Obligations
} from './obligation.js'
import type { Response, SideEffectClass } from './request.js'
import { anyValue, hashAnyInput, parserOf, parseWith, schemaOf } from './schema.js'
import type { Parsed } from './value-schema.js'

/** What executing a leaf needs of its block. */
export interface BlockCode {
  readonly sideEffects: SideEffectClass
  readonly capabilities: readonly string[]
  parseInput(value: Json): Parsed
  parseOutput(value: unknown): Parsed
  run(ctx: BlockContext, input: unknown): unknown
  /**
   * What it asks for and gives is data that its code has put together, without accessors and
   * proxies; for blocks of this library only.
   */
  readonly makesPlainData?: true
}

/** A leaf block in TypeScript. Trusted: it runs in this process and is not sandboxed (K8). */
export interface BlockDefinition<Input = unknown, Output = unknown> extends DeclaredObligation {
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
  /** Keeps payload or result out of the receipt, behind a salted hash (docs/spec/receipt.md). */
  readonly private?: { readonly input?: boolean; readonly output?: boolean }
  /** Where its effects wait for their turn; by its own name each, where it does not say. */
  readonly queue?: string | BlockQueue
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
  /** What it declares to hold wherever it is used (K14); not part of its hash. */
  readonly declares?: BlockObligation
  /** What holds for it in the run that has looked it up. */
  readonly obligations?: BoundObligations
  /** Where its effects wait for their turn: of no influence on what it does, and on no hash. */
  readonly queue?: BlockQueue
  /** sha256(JCS({name, version, schemas})): declared, not measured. */
  readonly codeHash: Hash
  /** JSON Schema of its input; absent: the definition has none. */
  readonly inputSchema?: Json
  parseInput(value: Json): Parsed
  parseOutput(value: unknown): Parsed
  run(ctx: BlockContext, input: unknown): unknown
  /**
   * Its code changes nothing of what it is given, so that it may be given the definition's own
   * literals; for blocks of this library only.
   */
  readonly sharesInput?: true
  /** As {@link BlockCode.makesPlainData}. */
  readonly makesPlainData?: true
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
  /** Runs instead of `run`: the code of a workflow function (B12). */
  readonly body?: FunctionBody
  /** The same block with another side-effect class: of a step that is a function. */
  readonly classed?: (sideEffects: SideEffectClass) => Block
  /** Runs instead of `run`: the leaf is part of the kernel. */
  readonly kernel?: KernelWork
  /**
   * Why it would not take all of an answer to its question, or of a patch after its failure, which
   * then changes nothing; for blocks of this library only. Pure.
   */
  readonly refuses?: (answer: AnswerToBlock) => string | undefined
}

/** Whether something is a defined block. */
export function isBlock(value: unknown): value is Block {
  if (typeof value !== 'object' || value === null) return false
  return 'codeHash' in value && 'parseInput' in value && 'run' in value
}

/** What a person gives a block that asks, or that has failed. */
export interface AnswerToBlock {
  /** What the block was given. */
  readonly payload: Json
  /** What it asks; null: it has failed, and the value patches its payload. */
  readonly question: Json
  readonly value: Json
  /** Of a patch: how it has failed, and whether something was sent outside before. */
  readonly failure?: Response
  readonly hasSent?: boolean
  /** Of a patch: the value with which its last question was answered. */
  readonly told?: Json
}

/** What a block takes and gives, for the compiler alone: what {@link defineBlock} gives. */
export interface TypedBlock<Input, Output> extends Block {
  /** Never there. */
  readonly types?: { readonly input: Input; readonly output: Output }
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
export function defineBlock<Input, Output>(
  definition: BlockDefinition<Input, Output>
): TypedBlock<Input, Output> {
  const { name, version, input, output } = definition
  return blockOf(definition, () => {
    const schemas = {
      input: schemaOf(name, input, 'input'),
      output: schemaOf(name, output, 'output')
    }
    return {
      codeHash: hashJson({ name, version, schemas }),
      ...(schemas.input === null ? {} : { inputSchema: schemas.input }),
      parseInput: parserOf(input),
      parseOutput: parserOf(output)
    }
  })
}

/**
 * A block of this library, whose input has a schema that is made when the block runs. Its hash is
 * given, since it is the same for ever; a test compares it with that of `defineBlock`.
 */
export function defineOwnBlock<Schema extends z.ZodType>(
  definition: Omit<BlockDefinition<z.output<Schema>>, 'input' | 'output'> & {
    readonly input: () => Schema
    readonly codeHash: string
  }
): Block {
  const { input, codeHash, ...rest } = definition
  return blockOf(rest, () => ({
    codeHash: codeHash as Hash,
    parseInput: (value) => parseWith(input(), value),
    parseOutput: anyValue
  }))
}

/** `codeOf` is asked once the name was checked, since problems with schemas name the block. */
function blockOf<Input, Output>(
  definition: Omit<BlockDefinition<Input, Output>, 'input' | 'output'>,
  codeOf: () => Pick<Block, 'codeHash' | 'inputSchema' | 'parseInput' | 'parseOutput'>
): Block {
  const { name, version } = definition
  if (!blockName.test(name)) throw invalid(name, 'its name is not a dotted lower-case name')
  if (version === '') throw invalid(name, 'it has no version')
  const capabilities = [...new Set(definition.capabilities ?? [])].sort()
  const intents = [...new Set(definition.intents ?? [])].sort()
  const badIntent = intents.find((intent) => !intentName.test(intent))
  if (badIntent !== undefined) throw invalid(name, `its intent ${badIntent} is not a dotted name`)
  const declares = declaredObligation(definition)
  if (declares !== undefined && 'problem' in declares) throw invalid(name, declares.problem)
  const queue = definition.queue === undefined ? undefined : blockQueue(definition.queue)
  if (queue !== undefined && 'problem' in queue) throw invalid(name, queue.problem)
  return Object.freeze<Block>({
    name,
    version,
    sideEffects: definition.sideEffects ?? 'non_idempotent',
    capabilities,
    intents,
    isInputPrivate: definition.private?.input ?? false,
    isOutputPrivate: definition.private?.output ?? false,
    ...(definition.compensate === undefined ? {} : { compensate: definition.compensate }),
    ...(declares === undefined ? {} : { declares }),
    ...(queue === undefined ? {} : { queue }),
    ...codeOf(),
    // The schema has just produced the input that the definition's own type asks for.
    run: (ctx, input) => definition.run(ctx, input as Input)
  })
}

/** A block of this library that asks for no effect and no state. */
export function touchingNothing(block: Block): Block {
  return Object.freeze<Block>({ ...block, touchesNothing: true })
}

function invalid(name: string, problem: string): TallyError {
  return blockError('block.invalid_definition', { name, problem })
}

/** The code of a workflow function (B12). */
export interface FunctionBody {
  run(port: BodyPort, input: unknown): unknown
}

/** What the code of a workflow function may touch, besides what a block may. */
export interface BodyPort {
  readonly context: BlockContext
  /** When the code was last given something, milliseconds on the run's clock. */
  now(): number
  /** Calls; rejects as the call is answered. Throws {@link BlockFailure} for a bad one. */
  call<Result>(
    effect: string,
    request: Json,
    build: (call: Omit<Call, 'kind'>) => Call
  ): Promise<Result>
  /** Calls have to say at which line of the code they are made. */
  readonly marksLines: boolean
}

/*
 * Code of the kernel: a leaf that decides at run time who does its work (K1). It gets
 * more than a block does, and what it says of itself stands in the receipt.
 */

/** Who did the work of an attempt, as its journal entry keeps it: a replay asks the same again. */
export interface RecordedProvider {
  /** `declared`, `package` or `kernel`. */
  readonly kind: string
  readonly id: string
  readonly codeHash: Hash
}

/** How an attempt failed, as its journal entry keeps it. */
export interface RecordedFailure {
  readonly reason: string
  readonly details: Json
}

/** What the receipt says instead of the leaf's own name, code and payload. */
export interface Attribution {
  readonly action: string
  readonly dappId: string
  readonly provider: RecordedProvider
  /** Versions that the result may depend on; absent: those of trusted code. */
  readonly profile?: Json
  /** Canonical JSON. */
  readonly payloadText: string
  readonly raw?: string
  /** Sorted. */
  readonly capabilitiesDeclared: readonly string[]
  readonly isInputPrivate: boolean
  readonly isOutputPrivate: boolean
  /** Why a result cannot be taken, or undefined. */
  refusal?(result: unknown): { readonly reason: string; readonly details: Json } | undefined
}

export interface IntentEffect {
  readonly name: string
  readonly request: Json
  readonly sideEffects: SideEffectClass
  readonly perform: ((call: EffectCall) => Promise<Json> | Json) | undefined
  readonly locate: ((call: EffectCall) => Promise<Located<Json>> | Located<Json>) | undefined
}

/** What a person is asked before it is done; `effect`: by its name. */
export interface AskedFirst {
  readonly message: string | null
  readonly block: string
  readonly effect?: string
  readonly payload: Json
  readonly timeoutMs?: number | undefined
  readonly approvers?: Approvers | undefined
}

/** What code of the kernel may touch. */
export interface IntentPort {
  /** Which try of its step this is, from 1. */
  readonly attempt: number
  readonly runId: string
  readonly unitId: UnitId
  /** Frozen time in milliseconds (K7). */
  readonly at: number
  readonly seed: Hash
  /** Who started the run (K13). */
  readonly principal: Json
  /** Canonical JSON of the input. */
  readonly inputText: string
  /** Provider that a recovery step names (C3), or null. */
  readonly provider: string | null
  /** In a replay: who did it. No provider is chosen again. */
  readonly recorded: RecordedProvider | undefined
  /** In a replay of an attempt that failed: how it failed. */
  readonly recordedFailure: RecordedFailure | undefined
  /** Aborted when the attempt is cancelled. */
  readonly signal: AbortSignal
  /** Canonical text of a state entry; recorded as read (L10). */
  read(key: string): string | undefined
  /** Undefined deletes. */
  write(key: string, value: Json | undefined): void
  list(prefix: string): Promise<readonly string[]>
  /** The state as it is now, not recorded: only for what the result does not depend on. */
  current(key: string): string | undefined
  attribute(attribution: Attribution): void
  /** Counts a capability as used. */
  use(capability: string): void
  /** Any effect up to the leaf's own class; rejects as `ctx.effect` does. */
  effect(effect: IntentEffect): Promise<Json>
  wait(options: WaitOptions): Promise<WaitAnswer>
  /** What the run has pinned (K14). */
  readonly obligations: Obligations
  /** Asks a person before something is done; fails as `denied`, or as `timed_out`. */
  confirm(asked: AskedFirst): Promise<void>
  /**
   * Before work on the unit's own state that has a capability's name: asks a person where an
   * obligation of that name says so, as an effect does. Rejects with {@link EffectFailure}.
   */
  obligedFirst(capability: string, request: Json): Promise<void>
  fail(reason: string, details?: Json): never
  /** Work of this process that is no effect: the same for the same input, wherever it is done. */
  elsewhere<Result>(work: () => Promise<Result>): Promise<Result>
  /** Gives up this execution and runs again from the start, on the state as it is then (L10). */
  again(): Promise<never>
  /**
   * Stops the run where its journal ends, with this error for callers: something around the code
   * has failed, which is no answer of the code. The run is resumed later.
   */
  halt(cause: TallyError): Promise<never>
  /** Runs a trusted block as if it were the leaf: its schemas, its class, its capabilities. */
  act(block: BlockCode, payload: Json): unknown
}

/** Versions of blocks by name, as the run that asks has pinned them (B10). */
export type PinnedBlocks = Readonly<Record<string, string>>

export interface KernelWork {
  run(port: IntentPort, input: Json, pinned?: PinnedBlocks): unknown
  /** Hash of the code that a recorded provider has here, or undefined when it is not here. */
  codeOf(recorded: RecordedProvider): Promise<Hash | undefined>
}

/** A leaf whose code is the kernel's. Not for code from outside: it can write any state. */
export function defineIntentBlock(definition: {
  readonly name: string
  readonly version: string
  readonly sideEffects: SideEffectClass
  readonly work: KernelWork
}): Block {
  const { name, version, sideEffects, work } = definition
  const run = (ctx: BlockContext) => ctx.fail('invalid_operation')
  const block = blockOf({ name, version, sideEffects, run }, () => ({
    codeHash: hashAnyInput(name, version),
    // Its input is checked by the kernel itself.
    parseInput: anyValue,
    parseOutput: anyValue
  }))
  return Object.freeze<Block>({ ...block, kernel: work })
}
