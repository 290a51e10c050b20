import {
  type Block,
  type BlockRegistry,
  type CompiledDocument,
  type CompiledRootLeaf,
  type CompileExpressions,
  compileDocument,
  compilingDocument,
  type Diagnostic,
  type DocumentDefinition,
  type Obligations,
  type Pins,
  type Provider,
  type RunStarted,
  reportedDiagnostics,
  rootOf
} from '../../block/index.js'
import type { StateReader } from '../../capability/index.js'
import {
  canonicalize,
  type Hash,
  type Json,
  limits,
  Redactor,
  spendWork,
  TallyError,
  VersionTable,
  writtenLength
} from '../../core/index.js'
import { type Expressions, loadExpressions } from '../../expression/index.js'
import {
  type createIntentPipeline,
  intentRoot,
  isIntentDefinition,
  resolveBlock,
  resolverProvider
} from '../../intent/index.js'
import type { CheckInputs, ParsedDocument } from '../document/document-kind.js'
import { piecesByKind, readingSource } from '../document/document-kinds.js'
import { DocumentRooms, type RoomHosts } from '../document/document-rooms.js'
import { DocumentSlices, unboundSlices } from '../document/document-slices.js'
import { mentionsCel, plainExpressions } from '../document/plain-expressions.js'
import { checkComposite, usedInputProblems } from '../document/used-inputs.js'
import { NamedCode, NameScope } from './named-code.js'
import { ObligationsInForce, pinnedObligations } from './obligations-in-force.js'
import { pinnedNames } from './pinned-names.js'
import { PreparedDocuments } from './prepared-documents.js'
import type {
  BlockLookup,
  PinnedTerms,
  Prepared,
  PreparedRun,
  RunDefinition
} from './prepared-run.js'
import { type ReachedIntent, reachedBy, reachedIntents } from './reached-code.js'
import { type RecordedRun, recordedRun } from './recorded-run.js'
import type { Registrations } from './registrations.js'

/** What a run can have for its root, compiled. */
export type CompiledRoot = CompiledDocument | CompiledRootLeaf

/**
 * Names to blocks, and documents to compiled charts.
 *
 * Owns: bounded caches of compiled documents, which can be thrown away at any time.
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
  readonly #prepared = new PreparedDocuments()
  readonly #pinned = new PreparedDocuments()
  /** Knows the secrets of everything that is registered. */
  readonly redactor: Redactor
  readonly #intents = new Map<string, SingleStepRoot>()
  #expressions: Promise<Expressions> | undefined
  /** Flows of agents and workflows, loaded with the first document that needs them. */
  readonly rooms: DocumentRooms

  /** Throws `runtime.duplicate_name`. What has to be read or loaded is not there yet. */
  private constructor(registrations: Registrations & RoomHosts) {
    const { blocks = [], providers = [], resolvers = [] } = registrations
    this.redactor = registrations.redactor ?? new Redactor()
    this.rooms = new DocumentRooms({
      hosts: registrations,
      redactor: this.redactor,
      expressions: () => this.#loadExpressions(),
      register: (blocks, providers) => this.#register(blocks, providers)
    })
    this.obligations = new ObligationsInForce(registrations.obligations)
    for (const block of blocks) this.#addBlock(block)
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
  static async open(registrations: Registrations & RoomHosts): Promise<Registry> {
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
    const parsed = await this.#parse(source)
    if (!parsed.ok) {
      const problem = parsed.diagnostics[0]?.message ?? 'invalid'
      throw new TallyError('runtime.invalid_composite', { problem })
    }
    const definition = parsed.used?.() ?? parsed.definition
    const { name, version } = definition
    this.code.add('composites', definition, definition)
    if (parsed.checkInputs !== undefined) this.#checks.add(name, version, parsed.checkInputs)
    await this.rooms.loadForBlocks(definition)
    checkComposite(definition, this.#refused(parsed))
  }

  #checkUses(composite: DocumentDefinition): void {
    checkComposite(composite, usedInputProblems(composite, this.#checksOf))
  }

  /** What a document chooses and the host does not allow; asked before a run begins only. */
  #refused({ refused, definition }: ParsedDocument & { readonly ok: true }): readonly Diagnostic[] {
    return refused ?? this.rooms.outOfBounds(definition)
  }

  readonly #checksOf = (reference: string): CheckInputs | undefined => {
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
      throw new TallyError('runtime.duplicate_name', { what: 'blocks', name: taken.name })
    }
    for (const block of blocks) this.#addBlock(block)
  }

  #addBlock(block: Block): void {
    this.code.add('blocks', block, block)
    this.obligations.add(block)
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
    return this.#prepared.of(key, () => this.#prepare(source))
  }

  /** A document's text, compiled with the versions that were pinned for it. */
  preparePinned(text: string, pins: Pins | undefined): Promise<Prepared> {
    const key = canonicalize({ text, pins: pins ?? null } as unknown as Json)
    return this.#pinned.of(key, () => this.#prepare(text, pins))
  }

  async #prepare(source: string | Json, pins?: Pins): Promise<Prepared> {
    const slices = new DocumentSlices(source)
    const parsed = await this.#parse(source, slices)
    if (!parsed.ok) return parsed
    const { definition, warnings = [], checkInputs } = parsed
    const obligations = this.obligations.all
    const compiled = await this.compile(definition, { warnings, pins, slices, obligations })
    if (!compiled.ok) return compiled
    const wrong = () => usedInputProblems(definition, this.#checksOf)
    const given = await slices.take(() => this.#refused(parsed).concat(wrong()))
    if (!given.ok) return given
    if (given.value.length > 0) return { ok: false, diagnostics: given.value, definition }
    return checkInputs === undefined ? compiled : { ...compiled, checkInputs }
  }

  /** A run's definition, compiled with the versions and the obligations that it has pinned. */
  async compileRun(
    definition: RunDefinition,
    { pins, obligations }: PinnedTerms
  ): Promise<PreparedRun> {
    if (!isIntentDefinition(definition)) return this.compile(definition, { pins, obligations })
    const prepared = this.intentRoot(definition.action)
    if (pins === undefined && obligations === this.obligations.all) return { ok: true, ...prepared }
    const { name, version } = prepared.compiled
    const blocks = pins && { blocks: { ...pins.blocks, [name]: version } }
    const scope = this.#scope(blocks, obligations)
    return { ok: true, ...prepared, block: (name) => scope.block(name) }
  }

  /** What a run that is in the ledger was made of, as far as it is here. */
  recorded(started: RunStarted): Promise<RecordedRun> {
    return recordedRun(this, started)
  }

  /** The root of a single-step run; one for each action, so that its actors serve the next. */
  intentRoot(action: string): SingleStepRoot {
    const known = this.#intents.get(action)
    if (known !== undefined) return known
    const made = { ...intentRoot({ action }), block: (name: string) => this.bound(name) }
    if (this.#intents.size >= limits.CACHE_ENTRIES_MAX) this.#intents.clear()
    this.#intents.set(action, made)
    return made
  }

  /** What a single-step run that does not end at once has to pin: the block that serves it. */
  intentPins(action: string): Pins | undefined {
    const block = this.#kernel?.serving(action)
    return block === undefined ? undefined : { blocks: { [block.name]: block.version } }
  }

  /** A checked definition, compiled; with the pins of the run that it is of, if it has begun. */
  async compile(
    definition: DocumentDefinition,
    options: {
      readonly warnings?: readonly Diagnostic[]
      readonly pins?: Pins | undefined
      readonly slices?: DocumentSlices
      readonly obligations: Obligations | undefined
    }
  ): Promise<Prepared> {
    const { warnings = [], pins, slices = unboundSlices } = options
    const sized = await slices.take(() => spendWork(writtenLength(definition) >> 4))
    if (!sized.ok) return { ...sized, definition }
    const expressions = await this.#expressionsFor(definition)
    await this.rooms.loadForBlocks(definition)
    const scope = this.#scope(pins, options.obligations)
    const compiling = compilingDocument(definition, { registry: scope, expressions })
    const taken = await slices.takeEach(compiling)
    if (!taken.ok) return { ...taken, definition }
    const result = taken.value
    if (!result.ok) {
      const diagnostics = reportedDiagnostics(result.diagnostics)
      return { ok: false, diagnostics, definition, missing: scope.missing() }
    }
    const { compiled } = result
    const isPrivate = (name: string) => {
      const block = scope.block(name)
      return block !== undefined && (block.isInputPrivate || block.isOutputPrivate)
    }
    const pinned = pins ?? this.#pinsOf(definition, scope)
    const obligations = pinnedObligations(options.obligations, scope.found().blocks)
    const named = {
      isPrivate,
      ...(pinned === undefined ? {} : { pins: pinned }),
      ...(obligations === undefined ? {} : { obligations })
    }
    const root = rootOf(definition, compiled, named)
    const block = (name: string) => scope.block(name)
    const reached = reachedBy(definition, scope)
    return { ok: true, root, compiled, block, definition, reached, warnings }
  }

  /** Hash of a definition by its pins alone; undefined for one that cannot have begun. */
  async hashBy(definition: DocumentDefinition, pins: Pins): Promise<Hash | undefined> {
    const expressions = await this.#expressionsFor(definition)
    const result = compileDocument(definition, { registry: pinnedNames(pins), expressions })
    return result.ok ? result.compiled.definitionHash : undefined
  }

  async #expressionsFor(definition: DocumentDefinition): Promise<CompileExpressions> {
    const composites = [...this.code.values('composites')] as unknown as Json
    const used = [definition as unknown as Json, composites]
    return mentionsCel(used) ? await this.#loadExpressions() : plainExpressions
  }

  /** Versions to which names alone lead now, with those of the blocks that serve its intents. */
  #pinsOf(definition: DocumentDefinition, scope: NameScope): Pins | undefined {
    const pins = scope.pins()
    const isKernel = (name: string) => scope.block(name)?.kernel !== undefined
    const served = reachedIntents(definition, isKernel).flatMap(({ action }) => {
      const block = this.#kernel?.serving(action)
      return block === undefined ? [] : [[block.name, block.version] as const]
    })
    if (served.length === 0) return pins
    return { ...pins, blocks: { ...Object.fromEntries(served), ...pins?.blocks } }
  }

  #scope(pins: Pins | undefined, obligations?: Obligations): NameScope {
    const provider = (name: string) => this.provider(name)
    return new NameScope(this.code, { pins, obligations, provider })
  }

  async #parse(
    source: string | Json,
    slices: DocumentSlices = unboundSlices
  ): Promise<ParsedDocument> {
    const read = await slices.takeEach(readingSource(source))
    if (!read.ok) return read
    if (!read.value.ok) return read.value
    const { document, ...places } = read.value
    await this.rooms.loadFor(document)
    const pieces = piecesByKind(document, { ...places, own: this.rooms.kinds })
    const parsed = await slices.takeEach(pieces)
    return parsed.ok ? parsed.value : parsed
  }

  #loadExpressions(): Promise<Expressions> {
    this.#expressions ??= loadExpressions()
    return this.#expressions
  }
}

/** A single-step run's root, and where its names lead. */
export type SingleStepRoot = ReturnType<typeof intentRoot> & { readonly block: BlockLookup }

type Kernel = ReturnType<typeof createIntentPipeline>

function add<Value>(map: Map<string, Value>, name: string, value: Value, what: string): void {
  if (map.has(name)) throw new TallyError('runtime.duplicate_name', { what, name })
  map.set(name, value)
}
