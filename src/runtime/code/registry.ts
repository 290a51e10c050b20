import type {
  BlockRegistry,
  DocumentDefinition,
  Pins,
  Provider,
  RunStarted
} from '../../block/index.js'
import type { StateReader } from '../../capability/index.js'
import type { Block, Workflow } from '../../code/index.js'
import { atOnce, type Json, Redactor, runtimeError, VersionTable } from '../../core/index.js'
import { type createIntentPipeline, resolveBlock, resolverProvider } from '../../intent/index.js'
import type { HeldLimits } from '../../queue/index.js'
import type { CheckInputs } from '../document/document-kind.js'
import { DocumentRooms, type RoomHosts } from '../document/document-rooms.js'
import { checkComposite, findingInputProblems } from '../document/used-inputs.js'
import { declaredQueues } from './declared-queues.js'
import { DocumentCompiler } from './document-compiler.js'
import { NamedCode } from './named-code.js'
import { ObligationsInForce } from './obligations-in-force.js'
import type { Sharing } from './prepared-documents.js'
import type { ReachedIntent } from './reached-code.js'
import { type RecordedRun, recordedRun } from './recorded-run.js'
import type { Registrations } from './registrations.js'
import { checkStepNames } from './workflow-functions.js'

/**
 * What a program has registered, by name.
 *
 * Owns: blocks, composites, conditions, repairs and providers, which only grow. Does not own: what
 * documents are compiled to.
 */
export class Registry implements Pick<BlockRegistry, 'block' | 'composite' | 'provider'> {
  /** Everything that has a version. */
  readonly code = new NamedCode()
  /** What new runs begin with (K14). */
  readonly obligations: ObligationsInForce
  /** What documents that others use say about their inputs, by `name@version`. */
  readonly #checks = new VersionTable<CheckInputs>()
  #kernel: Pick<Kernel, 'serving' | 'choose'> | undefined
  readonly #providers = new Map<string, Provider>()
  readonly #resolvers: readonly string[]
  /** Knows the secrets of everything that is registered. */
  readonly redactor: Redactor
  /** Flows of agents and workflows, loaded with the first document that needs them. */
  readonly rooms: DocumentRooms
  readonly documents: DocumentCompiler
  readonly queues: ReadonlyMap<string, HeldLimits>

  /** Throws `runtime.duplicate_name`. What has to be read or loaded is not there yet. */
  private constructor(registrations: Registrations & RoomHosts & Sharing) {
    const { blocks = [], providers = [], resolvers = [] } = registrations
    this.redactor = registrations.redactor ?? new Redactor()
    this.rooms = new DocumentRooms({
      hosts: registrations,
      redactor: this.redactor,
      expressions: () => this.documents.loadExpressions(),
      register: (blocks, providers) => this.#register(blocks, providers)
    })
    this.obligations = new ObligationsInForce(registrations.obligations)
    this.documents = new DocumentCompiler(this, registrations.compilations)
    for (const block of blocks) this.#addBlock(block)
    for (const workflow of registrations.workflows ?? []) this.#addWorkflow(workflow)
    this.queues = declaredQueues(registrations.queues ?? {}, this.code)
    checkStepNames(this.code)
    this.#addOwn([resolveBlock])
    this.#resolvers = resolvers.map(({ name }) => name)
    for (const provider of [...providers, resolverProvider(resolvers)]) {
      add(this.#providers, provider.name, provider, 'providers')
      this.#know(provider)
    }
    this.code.addFunctions('conditions', registrations.conditions ?? {})
    this.code.addFunctions('repairs', registrations.repairs ?? {})
  }

  /**
   * Takes what a program registers, and loads the rooms that it brings something for. Throws
   * `runtime.duplicate_name`, `runtime.invalid_composite`, and what the rooms refuse.
   */
  static async open(registrations: Registrations & RoomHosts & Sharing): Promise<Registry> {
    const registry = new Registry(registrations)
    await registry.rooms.loadHosted()
    for (const source of registrations.composites ?? []) await registry.#addComposite(source)
    for (const composite of registry.code.values('composites')) registry.#checkUses(composite)
    await registry.obligations.check(async (name) => {
      await registry.rooms.loadForBlocks(name)
      return registry.block(name)
    })
    return registry
  }

  async #addComposite(source: string | Json): Promise<void> {
    const parsed = await this.documents.parse(source)
    if (!parsed.ok) {
      const problem = parsed.diagnostics[0]?.message ?? 'invalid'
      throw runtimeError('runtime.invalid_composite', { problem })
    }
    const definition = parsed.used?.() ?? parsed.definition
    const { name, version } = definition
    this.code.add('composites', definition, definition)
    if (parsed.checkInputs !== undefined) this.#checks.add(name, version, parsed.checkInputs)
    await this.rooms.loadForBlocks(definition)
    checkComposite(definition, this.documents.refused(parsed))
  }

  #checkUses(composite: DocumentDefinition): void {
    checkComposite(composite, atOnce(findingInputProblems(composite, this.checkOf)))
  }

  /** What a document that others use says about its inputs. */
  readonly checkOf = (reference: string): CheckInputs | undefined => {
    return this.#checks.resolve(reference)?.value
  }

  // A provider of the program goes before one of a room.
  #register(blocks: readonly Block[], providers: readonly Provider[]): void {
    this.#addOwn(blocks)
    for (const provider of providers) {
      if (this.#providers.has(provider.name)) continue
      this.#providers.set(provider.name, provider)
      this.#know(provider)
    }
  }

  #know({ redactor }: Provider): void {
    if (redactor !== undefined) this.redactor.include(redactor)
  }

  /** Blocks of this library: no version of a program's may stand beside them. */
  #addOwn(blocks: readonly Block[]): void {
    const taken = blocks.find(({ name }) => this.code.versions('blocks', name).length > 0)
    if (taken !== undefined) {
      throw runtimeError('runtime.duplicate_name', { what: 'blocks', name: taken.name })
    }
    for (const block of blocks) this.#addBlock(block)
  }

  #addBlock(block: Block): void {
    this.code.add('blocks', block, block)
    this.obligations.add(block)
  }

  // Several workflows may call one block, which may be registered by itself, too.
  #addWorkflow(workflow: Workflow): void {
    this.code.add('workflows', workflow, workflow)
    for (const block of workflow.blocks) {
      const known = this.code.exact('blocks', block.name, block.version)?.value
      if (known !== block) this.#addBlock(block)
    }
  }

  /** A block by `name` or `name@version`, with what holds for it now. */
  bound(reference: string): Block | undefined {
    const block = this.block(reference)
    return block === undefined ? undefined : this.obligations.bind(block)
  }

  /** A block by `name` or `name@version`. */
  block(reference: string): Block | undefined {
    return this.code.resolve('blocks', reference)?.value
  }

  /** Trusted blocks that are registered. */
  blocks(): readonly Block[] {
    return [...this.code.values('blocks')]
  }

  /** Adds the leaves of the kernel. Throws `runtime.duplicate_name`. */
  addKernel(kernel: Kernel): void {
    this.#addOwn(kernel.blocks)
    this.#kernel = kernel
  }

  /** Who would do an intent now. */
  choose(intent: ReachedIntent, state: StateReader): ReturnType<Kernel['choose']> | undefined {
    return this.#kernel?.choose(intent, state)
  }

  composite(reference: string): DocumentDefinition | undefined {
    return this.code.resolve('composites', reference)?.value
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

  /** What a run that is in the ledger was made of, as far as it is here. */
  recorded(started: RunStarted): Promise<RecordedRun> {
    return recordedRun(this.documents, started)
  }

  /** The block that serves an intent now. */
  serving(action: string): Block | undefined {
    return this.#kernel?.serving(action)
  }

  /** What a single-step run that does not end at once has to pin: the block that serves it. */
  intentPins(action: string): Pins | undefined {
    const block = this.serving(action)
    return block === undefined ? undefined : { blocks: { [block.name]: block.version } }
  }
}

type Kernel = ReturnType<typeof createIntentPipeline>

function add<Value>(map: Map<string, Value>, name: string, value: Value, what: string): void {
  if (map.has(name)) throw runtimeError('runtime.duplicate_name', { what, name })
  map.set(name, value)
}
