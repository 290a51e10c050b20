import { type AgentHost, AgentParts } from '../agent/index.js'
import {
  type Block,
  type BlockRegistry,
  type CompiledDocument,
  type CompiledRootLeaf,
  type ConditionPredicate,
  compileDocument,
  type Diagnostic,
  type DocumentDefinition,
  isPlanDefinition,
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
import { type WorkflowHost, WorkflowParts } from '../workflow/index.js'
import type { CheckInputs, DocumentKind } from './document-kind.js'
import { parseSource } from './document-kinds.js'
import { flowKind } from './flow-kind.js'
import { workflowKind } from './workflow-kind.js'

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
  readonly #conditions: Readonly<Record<string, ConditionPredicate>>
  readonly #repairs: NonNullable<Registrations['repairs']>
  readonly #providers = new Map<string, Provider>()
  readonly #resolvers: readonly string[]
  readonly #prepared = new Map<string, Prepared>()
  readonly #intents = new Map<string, ReturnType<typeof intentRoot>>()
  readonly #kinds: readonly DocumentKind[]
  #expressions: Promise<Expressions> | undefined
  /** The agent room's part: its sessions end with their run. */
  readonly agents: AgentParts
  readonly #workflow: WorkflowParts

  constructor(registrations: Registrations) {
    this.agents = new AgentParts(registrations.agents)
    this.#workflow = new WorkflowParts(registrations.workflow)
    this.#kinds = [
      flowKind((document) => this.agents.compile(document)),
      workflowKind(this.#workflow)
    ]
    for (const block of this.#workflow.blocks) add(this.#blocks, block.name, block, 'blocks')
    for (const block of this.agents.blocks) add(this.#blocks, block.name, block, 'blocks')
    for (const block of registrations.blocks ?? []) add(this.#blocks, block.name, block, 'blocks')
    const { resolvers = [] } = registrations
    this.#resolvers = resolvers.map(({ name }) => name)
    add(this.#blocks, resolveBlock.name, resolveBlock, 'blocks')
    for (const provider of [...(registrations.providers ?? []), resolverProvider(resolvers)]) {
      add(this.#providers, provider.name, provider, 'providers')
    }
    for (const provider of this.agents.providers) {
      if (!this.#providers.has(provider.name)) this.#providers.set(provider.name, provider)
    }
    this.#conditions = registrations.conditions ?? {}
    this.#repairs = registrations.repairs ?? {}
    for (const source of registrations.composites ?? []) {
      const parsed = parseSource(source, this.#kinds)
      if (!parsed.ok) {
        const problem = parsed.diagnostics[0]?.message ?? 'invalid'
        throw new TallyError('runtime.invalid_composite', { problem })
      }
      add(this.#composites, parsed.definition.name, parsed.definition, 'composites')
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

  /** A document, as text or parsed, compiled. The problems of a bad one are data. */
  async prepare(source: string | Json): Promise<Prepared> {
    const key = typeof source === 'string' ? source : canonicalize(source)
    const known = this.#prepared.get(key)
    if (known !== undefined) return known
    if (mentionsWorkflow(key)) this.#workflow.use(await this.#loadExpressions())
    const parsed = parseSource(source, this.#kinds)
    const compiled = parsed.ok ? await this.compile(parsed.definition, parsed.warnings) : parsed
    const { checkInputs } = parsed.ok ? parsed : {}
    const prepared =
      compiled.ok && checkInputs !== undefined ? { ...compiled, checkInputs } : compiled
    if (this.#prepared.size >= limits.CACHE_ENTRIES_MAX) this.#prepared.clear()
    this.#prepared.set(key, prepared)
    return prepared
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
    if (runsWorkflow(definition)) this.#workflow.use(await this.#loadExpressions())
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

/** Whether a document may be a workflow, which is compiled with the CEL engine at hand. */
function mentionsWorkflow(text: string): boolean {
  return text.includes('ais-flow/') || text.includes('ais-bundle/')
}

/** Whether blocks of workflows run in it: they evaluate expressions while they run. */
function runsWorkflow(definition: DocumentDefinition): boolean {
  if (!isPlanDefinition(definition)) return false
  return definition.nodes.some(({ work }) => work.kind === 'block' && work.block.startsWith('ais.'))
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
