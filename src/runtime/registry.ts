import type { AgentHost } from '../agent/index.js'
import {
  type Block,
  type BlockRegistry,
  type CompiledDocument,
  type CompiledRootLeaf,
  type ConditionPredicate,
  compileDocument,
  type Diagnostic,
  type DocumentDefinition,
  type Provider,
  type Request,
  type Response,
  type RootBlock,
  rootOf
} from '../block/index.js'
import { canonicalize, isJsonObject, type Json, limits, TallyError } from '../core/index.js'
import { compileValue, type Expressions, loadExpressions } from '../expression/index.js'
import {
  type IntentDefinition,
  type IntentResolver,
  intentRoot,
  isIntentDefinition,
  resolveBlock,
  resolverProvider
} from '../intent/index.js'
import type { WorkflowHost } from '../workflow/index.js'
import type { CheckInputs, ParsedDocument } from './document-kind.js'
import { parseByKind, readSource } from './document-kinds.js'
import { DocumentRooms } from './document-rooms.js'
import { usedInputProblems } from './used-inputs.js'

/** What `run.started` keeps of a run. */
export type RunDefinition = DocumentDefinition | IntentDefinition

/** What a runtime can run: everything that documents may name. */
export interface Registrations {
  readonly blocks?: readonly Block[]
  /** Documents that other documents may `use`: text or parsed. */
  readonly composites?: readonly (string | Json)[]
  readonly conditions?: Readonly<Record<string, ConditionPredicate>>
  /** Pure functions that correct a request after a failure (B8). */
  readonly repairs?: Readonly<Record<string, (request: Request, failure: Response) => Request>>
  /** Answer effects that give no `perform` of their own. */
  readonly providers?: readonly Provider[]
  /** AI providers that say what a text means; the first is asked unless another is named (K11). */
  readonly resolvers?: readonly IntentResolver[]
  /** What flow documents may name: adapters, tools, kinds of nodes. */
  readonly agents?: AgentHost
  /** Protocols, packs and the policy of workflows of AIS. */
  readonly workflow?: WorkflowHost
}

/** What a run can have for its root, compiled. */
export type CompiledRoot = CompiledDocument | CompiledRootLeaf

/** The definition of a run, compiled again; that of a lone intent is no document. */
export type PreparedRun =
  | Prepared
  | { readonly ok: true; readonly root: RootBlock; readonly compiled: CompiledRootLeaf }

export type Prepared =
  | {
      readonly ok: true
      readonly root: RootBlock
      readonly compiled: CompiledDocument
      readonly definition: DocumentDefinition
      /** What is doubtful in the document, beside what `lintDocument` finds. */
      readonly warnings: readonly Diagnostic[]
      readonly checkInputs?: CheckInputs
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/**
 * Names to blocks, and documents to compiled charts.
 *
 * Owns: a bounded cache of compiled documents by text, which can be thrown away at any time.
 */
export class Registry implements BlockRegistry {
  readonly #blocks = new Map<string, Block>()
  readonly #composites = new Map<string, DocumentDefinition>()
  /** What documents that others use say about their inputs. */
  readonly #checks = new Map<string, CheckInputs>()
  readonly #conditions: Readonly<Record<string, ConditionPredicate>>
  readonly #repairs: NonNullable<Registrations['repairs']>
  readonly #providers = new Map<string, Provider>()
  readonly #resolvers: readonly string[]
  readonly #prepared = new Map<string, Promise<Prepared>>()
  readonly #intents = new Map<string, ReturnType<typeof intentRoot>>()
  #expressions: Promise<Expressions> | undefined
  /** Flows of agents and workflows, loaded with the first document that needs them. */
  readonly rooms: DocumentRooms

  /** Throws `runtime.duplicate_name`. What has to be read or loaded is not there yet. */
  private constructor(registrations: Registrations) {
    const { blocks = [], providers = [], resolvers = [] } = registrations
    this.rooms = new DocumentRooms({
      hosts: registrations,
      expressions: () => this.#loadExpressions(),
      register: (blocks, providers) => this.#register(blocks, providers)
    })
    for (const block of [...blocks, resolveBlock]) add(this.#blocks, block.name, block, 'blocks')
    this.#resolvers = resolvers.map(({ name }) => name)
    for (const provider of [...providers, resolverProvider(resolvers)]) {
      add(this.#providers, provider.name, provider, 'providers')
    }
    this.#conditions = registrations.conditions ?? {}
    this.#repairs = registrations.repairs ?? {}
  }

  /**
   * Takes what a program registers, and loads the rooms that it brings something for. Throws
   * `runtime.duplicate_name`, `runtime.invalid_composite`, and what the rooms refuse.
   */
  static async open(registrations: Registrations): Promise<Registry> {
    const registry = new Registry(registrations)
    await registry.rooms.loadHosted()
    for (const source of registrations.composites ?? []) await registry.#addComposite(source)
    for (const composite of registry.#composites.values()) registry.#checkUses(composite)
    return registry
  }

  async #addComposite(source: string | Json): Promise<void> {
    const parsed = await this.#parse(source)
    if (!parsed.ok) {
      const problem = parsed.diagnostics[0]?.message ?? 'invalid'
      throw new TallyError('runtime.invalid_composite', { problem })
    }
    const definition = parsed.used?.() ?? parsed.definition
    add(this.#composites, definition.name, definition, 'composites')
    if (parsed.checkInputs !== undefined) this.#checks.set(definition.name, parsed.checkInputs)
    await this.rooms.loadForBlocks(definition)
  }

  #checkUses(composite: DocumentDefinition): void {
    const [first] = usedInputProblems(composite, (name) => this.#checks.get(name))
    if (first === undefined) return
    const problem = `${composite.name}: ${first.message}`
    throw new TallyError('runtime.invalid_composite', { problem })
  }

  // A provider of the program goes before one of a room.
  #register(blocks: readonly Block[], providers: readonly Provider[]): void {
    for (const block of blocks) add(this.#blocks, block.name, block, 'blocks')
    for (const provider of providers) {
      if (!this.#providers.has(provider.name)) this.#providers.set(provider.name, provider)
    }
  }

  block(name: string): Block | undefined {
    return this.#blocks.get(name)
  }

  /** Trusted blocks that are registered. */
  blocks(): readonly Block[] {
    return [...this.#blocks.values()]
  }

  /** Adds the leaves of the kernel. Throws `runtime.duplicate_name`. */
  addKernel(blocks: readonly Block[]): void {
    for (const block of blocks) add(this.#blocks, block.name, block, 'blocks')
  }

  composite(name: string): DocumentDefinition | undefined {
    return this.#composites.get(name)
  }

  condition(name: string): ConditionPredicate | undefined {
    return Object.hasOwn(this.#conditions, name) ? this.#conditions[name] : undefined
  }

  repair(name: string): ((request: Request, failure: Response) => Request) | undefined {
    return Object.hasOwn(this.#repairs, name) ? this.#repairs[name] : undefined
  }

  provider(name: string): Provider | undefined {
    return this.#providers.get(name)
  }

  /** Those that want to know what earlier processes have left unfinished. */
  recovering(): readonly Provider[] {
    return [...this.#providers.values()].filter(({ recover }) => recover !== undefined)
  }

  /** Names of the AI providers that resolve text, in the order in which they were given. */
  resolvers(): readonly string[] {
    return this.#resolvers
  }

  /**
   * A document, as text or parsed, compiled; a workflow with protocols of its own. The problems of
   * a bad one are data. Throws `document.malformed` for a workflow whose protocols are none.
   */
  async prepare(
    document: string | Json,
    { protocols = [] }: { readonly protocols?: readonly (string | Json)[] } = {}
  ): Promise<Prepared> {
    const source = protocols.length === 0 ? document : await this.rooms.bundle(document, protocols)
    const key = typeof source === 'string' ? source : canonicalize(source)
    const known = this.#prepared.get(key)
    if (known !== undefined) return known
    // Many runs of a new document may begin at once: it is compiled for the first.
    const preparing = this.#prepare(source)
    if (this.#prepared.size >= limits.CACHE_ENTRIES_MAX) this.#prepared.clear()
    this.#prepared.set(key, preparing)
    preparing.catch(() => this.#prepared.delete(key))
    return preparing
  }

  async #prepare(source: string | Json): Promise<Prepared> {
    const parsed = await this.#parse(source)
    if (!parsed.ok) return parsed
    const { definition, warnings, checkInputs } = parsed
    const compiled = await this.compile(definition, warnings)
    const diagnostics = usedInputProblems(definition, (name) => this.#checks.get(name))
    if (compiled.ok && diagnostics.length > 0) return { ok: false, diagnostics }
    return compiled.ok && checkInputs !== undefined ? { ...compiled, checkInputs } : compiled
  }

  /** What a run's first journal entry keeps, compiled. */
  async compileRun(definition: RunDefinition): Promise<PreparedRun> {
    if (!isIntentDefinition(definition)) return this.compile(definition)
    return { ok: true, ...this.intentRoot(definition.action) }
  }

  /** The root of a lone intent; one for each action, so that its actors serve the next. */
  intentRoot(action: string): ReturnType<typeof intentRoot> {
    const known = this.#intents.get(action)
    if (known !== undefined) return known
    const made = intentRoot({ action })
    if (this.#intents.size >= limits.CACHE_ENTRIES_MAX) this.#intents.clear()
    this.#intents.set(action, made)
    return made
  }

  /** A checked definition, compiled. */
  async compile(
    definition: DocumentDefinition,
    warnings: readonly Diagnostic[] = []
  ): Promise<Prepared> {
    const used = [definition as unknown as Json, [...this.#composites.values()] as unknown as Json]
    const expressions = mentionsCel(used) ? await this.#loadExpressions() : plainExpressions
    await this.rooms.loadForBlocks(definition)
    const result = compileDocument(definition, { registry: this, expressions })
    if (!result.ok) return result
    const { compiled } = result
    const isPrivate = (name: string) => {
      const block = this.block(name)
      return block !== undefined && (block.isInputPrivate || block.isOutputPrivate)
    }
    const root = rootOf(definition, compiled, { isPrivate })
    return { ok: true, root, compiled, definition, warnings }
  }

  async #parse(source: string | Json): Promise<ParsedDocument> {
    const read = readSource(source)
    if (!read.ok) return read
    const { document, ...places } = read
    await this.rooms.loadFor(document)
    return parseByKind(document, { ...places, own: this.rooms.kinds })
  }

  #loadExpressions(): Promise<Expressions> {
    this.#expressions ??= loadExpressions()
    return this.#expressions
  }
}

const plainExpressions: Pick<Expressions, 'compileValue' | 'compileCondition'> = {
  compileValue: (value, options) => compileValue(value, options),
  compileCondition: (expression) => {
    throw new TallyError('core.internal', { problem: `no engine was loaded for ${expression}` })
  }
}

/** Loading the CEL engine takes a tenth of a second, so documents without CEL do without it. */
function mentionsCel(value: Json): boolean {
  if (Array.isArray(value)) return value.some(mentionsCel)
  if (!isJsonObject(value)) return false
  return 'cel' in value || Object.values(value).some(mentionsCel)
}

function add<Value>(map: Map<string, Value>, name: string, value: Value, what: string): void {
  if (map.has(name)) throw new TallyError('runtime.duplicate_name', { what, name })
  map.set(name, value)
}
