import {
  type CompileExpressions,
  compileDocument,
  compilingDocument,
  type Diagnostic,
  type DocumentDefinition,
  functionHash,
  lintingDocument,
  type Pins,
  type Provider,
  reportedDiagnostics,
  rootOf
} from '../../block/index.js'
import type { Block, FunctionDefinition, Workflow } from '../../code/index.js'
import {
  canonicalize,
  canonicalizing,
  type Hash,
  type Json,
  limits,
  once,
  type Pieces,
  payWork,
  runtimeError,
  writingLength
} from '../../core/index.js'
import { type LoadedExpressions, loadExpressions } from '../../expression/index.js'
import { intentRoot, isIntentDefinition } from '../../intent/index.js'
import type { CheckInputs, ParsedDocument } from '../document/document-kind.js'
import { piecesByKind, readingSource } from '../document/document-kinds.js'
import type { DocumentRooms } from '../document/document-rooms.js'
import { DocumentSlices, unboundSlices } from '../document/document-slices.js'
import { mentionsCel, plainExpressions } from '../document/plain-expressions.js'
import { findingInputProblems } from '../document/used-inputs.js'
import { type NamedCode, NameScope, pinnedNames } from './named-code.js'
import { type ObligationsInForce, pinnedObligations } from './obligations-in-force.js'
import {
  type Compilations,
  compiledFrom,
  PreparedDocuments,
  PreparedFunctions
} from './prepared-documents.js'
import type {
  PinnedTerms,
  Prepared,
  PreparedFunction,
  PreparedRun,
  PreparedStep,
  RunDefinition
} from './prepared-run.js'
import { executedFor, keepsPrivate, reachedBy, reachedIntents } from './reached-code.js'
import { isFunctionDefinition, prepareFunction } from './workflow-functions.js'

/** Characters of a definition that are one step of work. */
const CHARS_OF_STEP = 16

/** Pays for what a definition will take as text. */
function* paying(definition: DocumentDefinition): Pieces<void> {
  payWork(Math.floor((yield* writingLength(definition)) / CHARS_OF_STEP))
}

/** What documents are compiled with. */
interface Registered {
  readonly code: NamedCode
  /** What new runs begin with (K14). */
  readonly obligations: ObligationsInForce
  readonly rooms: DocumentRooms
  /** A block with what holds for it now. */
  bound(reference: string): Block | undefined
  provider(name: string): Provider | undefined
  /** The leaf of the kernel that serves an intent. */
  serving(action: string): Block | undefined
  /** What a document that others use says about its inputs. */
  readonly checkOf: (reference: string) => CheckInputs | undefined
}

/**
 * Documents, and definitions of runs, to compiled charts: with what is registered now, or with what
 * a run has pinned.
 *
 * Owns: bounded caches of what was compiled, which can be thrown away at any time, and the engine
 * of expressions. Does not own: what is registered.
 */
export class DocumentCompiler {
  readonly #registered: Registered
  readonly #compilations: Compilations | undefined
  readonly #prepared = new PreparedDocuments()
  readonly #pinned = new PreparedDocuments()
  /** Runs that were resumed: a thousand of one definition have one chart. */
  readonly #resumed = new PreparedDocuments<PreparedRun>()
  readonly #steps = new Map<string, PreparedStep>()
  readonly #functions = new PreparedFunctions()
  #expressions: Promise<LoadedExpressions> | undefined

  constructor(registered: Registered, compilations?: Compilations) {
    this.#registered = registered
    this.#compilations = compilations
  }

  get code(): NamedCode {
    return this.#registered.code
  }

  /**
   * A document, as text or parsed, compiled; a workflow with protocols of its own. The problems of
   * a bad one are data. Throws `document.malformed` for a workflow whose protocols are none.
   */
  async prepare(
    document: string | Json,
    { protocols = [] }: { readonly protocols?: readonly (string | Json)[] } = {}
  ): Promise<Prepared> {
    if (protocols.length > 0) {
      const bundling = await this.#registered.rooms.bundling()
      const bundle = await new DocumentSlices(document).takeEach(bundling(document, protocols))
      return bundle.ok ? this.#prepareOnce(bundle.value) : bundle
    }
    return this.#prepareOnce(document)
  }

  async #prepareOnce(source: string | Json): Promise<Prepared> {
    if (typeof source === 'string') return this.#prepared.of(source, () => this.#prepare(source))
    const slices = new DocumentSlices(source)
    const written = await slices.takeEach(canonicalizing(source))
    // What cannot be written is misuse, and is thrown with its place.
    const key = written.ok ? written.value : canonicalize(source)
    return this.#prepared.of(key, () => this.#prepare(source))
  }

  /** What is wrong with a document, or doubtful in it, as a report shows it. */
  async lint(document: string | Json): Promise<readonly Diagnostic[]> {
    const prepared = await this.prepare(document)
    if (!prepared.ok) return prepared.diagnostics
    const { definition, warnings } = prepared
    const slices = new DocumentSlices(document)
    const found = await slices.takeEach(lintingDocument(definition))
    if (!found.ok) return found.diagnostics
    return reportedDiagnostics([...found.value, ...warnings])
  }

  /** A document's text, compiled with the versions that were pinned for it. */
  preparePinned(text: string, pins: Pins | undefined): Promise<Prepared> {
    const key = canonicalize({ text, pins: pins ?? null } as unknown as Json)
    return this.#pinned.of(key, () => this.#prepare(text, { pins }))
  }

  /**
   * With `published`, what the owner has published: the owner has said it, also where an agent
   * starts it.
   */
  async #prepare(
    source: string | Json,
    published?: { readonly pins: Pins | undefined }
  ): Promise<Prepared> {
    const slices = new DocumentSlices(source)
    const parsed = await this.parse(source, slices)
    if (!parsed.ok) return parsed
    const { definition, warnings = [], checkInputs } = parsed
    const { obligations, checkOf } = this.#registered
    const terms = { pins: published?.pins, obligations: obligations.all }
    const compiled = await this.#compile(definition, terms, { warnings, slices })
    if (!compiled.ok) return compiled
    const refused = await slices.take(() => this.refused(parsed))
    if (!refused.ok) return refused
    const wrong = await slices.takeEach(findingInputProblems(definition, checkOf))
    if (!wrong.ok) return wrong
    const diagnostics = [...refused.value, ...wrong.value]
    if (diagnostics.length > 0) return { ok: false, diagnostics, definition }
    const ownersAlone = once(() => this.#ownersAlone(parsed))
    const prepared = published === undefined ? { ...compiled, ownersAlone } : compiled
    return checkInputs === undefined ? prepared : { ...prepared, checkInputs }
  }

  /** A run's definition, compiled with the versions and the obligations that it has pinned. */
  async compileRun(definition: RunDefinition, terms: PinnedTerms): Promise<PreparedRun> {
    if (!isIntentDefinition(definition)) return this.#resumedOnce(definition, terms)
    const { pins, obligations } = terms
    const prepared = this.intentRoot(definition.action)
    if (pins === undefined && obligations === this.#registered.obligations.all) return prepared
    const { name, version } = prepared.compiled
    const blocks = pins && { blocks: { ...pins.blocks, [name]: version } }
    const scope = this.#scope({ pins: blocks, obligations })
    return { ...prepared, block: (name) => scope.block(name) }
  }

  async #resumedOnce(
    definition: DocumentDefinition | FunctionDefinition,
    terms: PinnedTerms
  ): Promise<PreparedRun> {
    const key = compiledFrom({ definition, ...terms })
    const prepared = await this.#resumed.of(key, async () =>
      isFunctionDefinition(definition)
        ? this.#functionOf(definition, terms)
        : this.#compile(definition, terms, { from: key })
    )
    // What is missing now may be registered later.
    if (!prepared.ok) this.#resumed.forget(key)
    return prepared
  }

  /**
   * A registered workflow, or the one of a name or `name@version`, with what holds now. Throws
   * `runtime.workflow_not_registered`.
   */
  prepareWorkflow(given: string | Workflow): PreparedFunction {
    const name = typeof given === 'string' ? given : `${given.name}@${given.version}`
    const workflow = this.code.resolve('workflows', name)?.value
    if (workflow === undefined || (typeof given !== 'string' && workflow !== given)) {
      throw runtimeError('runtime.workflow_not_registered', { name })
    }
    return this.#functions.of(workflow, () => this.#function(workflow, this.#terms()))
  }

  #terms(): PinnedTerms {
    return { obligations: this.#registered.obligations.all }
  }

  #functionOf({ name, version }: FunctionDefinition, terms: PinnedTerms): PreparedRun {
    const workflow = this.code.exact('workflows', name, version)?.value
    if (workflow !== undefined) return this.#function(workflow, terms)
    return { ok: false, diagnostics: [], missing: [`${name}@${version}`] }
  }

  #function(workflow: Workflow, terms: PinnedTerms): PreparedFunction {
    return prepareFunction(workflow, this.#scope({ obligations: terms.obligations }), terms)
  }

  /** The root of a single-step run; one for each action, so that its actors serve the next. */
  intentRoot(action: string): PreparedStep {
    const known = this.#steps.get(action)
    if (known !== undefined) return known
    const block = (name: string) => this.#registered.bound(name)
    const reached = { blocks: [], intents: [{ action }], computesIntents: false }
    const root = intentRoot(
      { action },
      this.#privacyOf(() => reached)
    )
    const made = { ok: true as const, ...root, block }
    if (this.#steps.size >= limits.CACHE_ENTRIES_MAX) this.#steps.clear()
    this.#steps.set(action, made)
    return made
  }

  /** A checked definition, compiled. */
  async #compile(
    definition: DocumentDefinition,
    terms: PinnedTerms,
    {
      warnings = [],
      slices = unboundSlices,
      from
    }: {
      readonly warnings?: readonly Diagnostic[]
      readonly slices?: DocumentSlices
      /** {@link compiledFrom}, where its caller has it. */
      readonly from?: string
    } = {}
  ): Promise<Prepared> {
    const sized = await slices.takeEach(paying(definition))
    if (!sized.ok) return { ...sized, definition }
    const expressions = await this.#expressionsFor(definition, slices)
    await this.#registered.rooms.loadForBlocks(definition, slices)
    const newScope = () => this.#scope(terms)
    const shared = this.#compilations
    const name = shared === undefined ? '' : (from ?? shared.compiledFrom({ definition, ...terms }))
    const known = shared?.find(name, newScope)
    const scope = known?.scope ?? newScope()
    const compiling = () => compilingDocument(definition, { registry: scope, expressions })
    const taken = known?.taken ?? (await slices.takeEach(compiling()))
    if (!taken.ok) return { ...taken, definition }
    const result = taken.value
    if (!result.ok) {
      const diagnostics = reportedDiagnostics(result.diagnostics)
      return { ok: false, diagnostics, definition, missing: scope.missing() }
    }
    const { compiled, doubtful } = result
    if (known === undefined) shared?.keep(name, result, scope)
    const reached = reachedBy(definition, scope)
    const pins = terms.pins ?? this.#pinsOf(definition, scope)
    const obligations = pinnedObligations(terms.obligations, scope.found().blocks)
    const named = {
      isPrivate: this.#privacyOf(reached),
      ...(pins === undefined ? {} : { pins }),
      ...(obligations === undefined ? {} : { obligations })
    }
    const root = rootOf(definition, compiled, named)
    const block = (name: string) => scope.block(name)
    return {
      ok: true,
      root,
      compiled,
      block,
      definition,
      reached,
      warnings: [...doubtful, ...warnings]
    }
  }

  /** Whether code that may be executed keeps something private; looked for once, when asked. */
  #privacyOf(reached: () => Parameters<typeof executedFor>[0]): () => boolean {
    return once(() => executedFor(reached(), this.code.values('blocks')).some(keepsPrivate))
  }

  /** Hash of a definition by its pins alone; undefined for one that cannot have begun. */
  async hashBy(
    definition: DocumentDefinition | FunctionDefinition,
    pins: Pins
  ): Promise<Hash | undefined> {
    if (isFunctionDefinition(definition)) return functionHash(definition)
    const expressions = await this.#expressionsFor(definition)
    const result = compileDocument(definition, { registry: pinnedNames(pins), expressions })
    return result.ok ? result.compiled.definitionHash : undefined
  }

  async #expressionsFor(
    definition: DocumentDefinition,
    slices: DocumentSlices = unboundSlices
  ): Promise<CompileExpressions> {
    const composites = [...this.code.values('composites')] as unknown as Json
    const used = [definition as unknown as Json, composites]
    const found = await slices.takeEach(mentionsCel(used))
    return !found.ok || found.value ? await this.loadExpressions() : plainExpressions
  }

  /** Versions to which names alone lead now, with those of the blocks that serve its intents. */
  #pinsOf(definition: DocumentDefinition, scope: NameScope): Pins | undefined {
    const pins = scope.pins()
    const isKernel = (name: string) => scope.block(name)?.kernel !== undefined
    const served = reachedIntents(definition, isKernel).flatMap(({ action }) => {
      const block = this.#registered.serving(action)
      return block === undefined ? [] : [[block.name, block.version] as const]
    })
    if (served.length === 0) return pins
    return { ...pins, blocks: { ...Object.fromEntries(served), ...pins?.blocks } }
  }

  #scope({ pins, obligations }: PinnedTerms): NameScope {
    const provider = (name: string) => this.#registered.provider(name)
    return new NameScope(this.code, { pins, obligations, provider })
  }

  /** What a document says, by its kind. The problems of a bad one are data. */
  async parse(
    source: string | Json,
    slices: DocumentSlices = unboundSlices
  ): Promise<ParsedDocument> {
    const { rooms } = this.#registered
    // What a room reads depends on what the host brings for it.
    const hasRoom = () => rooms.kinds.length > 0
    const text = typeof source === 'string' && !hasRoom() ? source : undefined
    const known = text === undefined ? undefined : this.#compilations?.parsed(text)
    if (known !== undefined) return known
    const read = await slices.takeEach(readingSource(source))
    if (!read.ok) return read
    if (!read.value.ok) return read.value
    const { document, ...places } = read.value
    await rooms.loadFor(document)
    const pieces = piecesByKind(document, { ...places, own: rooms.kinds })
    const parsed = await slices.takeEach(pieces)
    if (!parsed.ok) return parsed
    if (text !== undefined && !hasRoom()) this.#compilations?.keepParsed(text, parsed.value)
    return parsed.value
  }

  /** What a document chooses and the host does not allow; asked before a run begins only. */
  refused({ refused, definition }: ParsedDocument & { readonly ok: true }): readonly Diagnostic[] {
    return refused ?? this.#registered.rooms.outOfBounds(definition)
  }

  /** What a document chooses and only the owner may (K15): asked where another starts it. */
  #ownersAlone(parsed: ParsedDocument & { readonly ok: true }): readonly Diagnostic[] {
    const { definition, ownersAlone = [] } = parsed
    return [...ownersAlone, ...this.#registered.rooms.ownersAlone(definition)]
  }

  /** The engine of expressions, loaded once. */
  loadExpressions(): Promise<LoadedExpressions> {
    this.#expressions ??= this.#compilations?.expressions(loadExpressions) ?? loadExpressions()
    return this.#expressions
  }
}
