import type { CompiledDocument, CompileResult, DocumentDefinition } from '../../block/index.js'
import type { FunctionDefinition, Workflow } from '../../code/index.js'
import { canonicalizeOwn, type KnownTexts, limits } from '../../core/index.js'
import type { LoadedExpressions } from '../../expression/index.js'
import type { ParsedDocument } from '../document/document-kind.js'
import type { FoundCode, NameScope } from './named-code.js'
import type { PinnedTerms, Prepared, PreparedFunction, PreparedRun } from './prepared-run.js'

/**
 * Documents that were compiled, by what they were compiled from.
 *
 * Owns: a bounded cache, which can be thrown away at any time.
 */
export class PreparedDocuments<Run extends PreparedRun = Prepared> {
  readonly #known = new Map<string, Promise<Run>>()

  /** Many runs of a new document may begin at once: it is compiled for the first. */
  of(key: string, prepare: () => Promise<Run>): Promise<Run> {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const preparing = prepare()
    if (this.#known.size >= limits.CACHE_ENTRIES_MAX) this.#known.clear()
    this.#known.set(key, preparing)
    preparing.catch(() => this.#known.delete(key))
    return preparing
  }

  forget(key: string): void {
    this.#known.delete(key)
  }
}

/** Workflow functions that were prepared for new runs: one for each, so that its actors serve. */
export class PreparedFunctions {
  readonly #known = new WeakMap<Workflow, PreparedFunction>()

  of(workflow: Workflow, prepare: () => PreparedFunction): PreparedFunction {
    const prepared = this.#known.get(workflow) ?? prepare()
    this.#known.set(workflow, prepared)
    return prepared
  }
}

/** What registries with the same code may have in common. */
export interface Sharing {
  /** Default: nothing was compiled before. */
  readonly compilations?: Compilations
}

type CompileSuccess = CompileResult<CompiledDocument> & { readonly ok: true }

/** What a chart is compiled from, besides the code that its names lead to. */
interface Terms extends PinnedTerms {
  readonly definition: DocumentDefinition | FunctionDefinition
}

/**
 * What compiling has made, for registries that share it: the expression engine, definitions of
 * documents, and charts. A simulation has a registry for each life of a process, and one of these.
 *
 * Owns: bounded caches, which can be thrown away at any time. It gives a definition again for the
 * same text alone, and a chart only where every name that was looked up for it leads to the same
 * code.
 */
export class Compilations {
  readonly #known = new Map<string, { readonly result: CompileSuccess; found: FoundCode }>()
  readonly #parsed = new Map<string, ParsedDocument>()
  readonly #texts = new WeakMap<object, string>()
  #expressions: Promise<LoadedExpressions> | undefined

  expressions(load: () => Promise<LoadedExpressions>): Promise<LoadedExpressions> {
    this.#expressions ??= load()
    return this.#expressions
  }

  /** What a text was parsed to before; of a kind that no room brings. */
  parsed(text: string): ParsedDocument | undefined {
    return this.#parsed.get(text)
  }

  keepParsed(text: string, parsed: ParsedDocument): void {
    if (this.#parsed.size >= limits.CACHE_ENTRIES_MAX) this.#parsed.clear()
    this.#parsed.set(text, parsed)
    if (parsed.ok) this.#texts.set(parsed.definition, canonicalizeOwn(parsed.definition))
  }

  /** {@link compiledFrom}; a definition that was kept is not written again. */
  compiledFrom(terms: Terms): string {
    return compiledFrom(terms, this.#texts)
  }

  /** A chart of before by {@link compiledFrom}, with a scope that has looked up its names. */
  find(from: string, newScope: () => NameScope) {
    const known = this.#known.get(from)
    if (known === undefined) return undefined
    const scope = newScope()
    if (!scope.finds(known.found)) return undefined
    return { scope, taken: { ok: true, value: known.result } } as const
  }

  keep(from: string, result: CompileSuccess, scope: NameScope): void {
    if (this.#known.size >= limits.CACHE_ENTRIES_MAX) this.#known.clear()
    this.#known.set(from, { result, found: scope.foundCode() })
  }
}

/** What the text of a definition and of what a run has pinned stands for. */
export function compiledFrom({ definition, pins, obligations }: Terms, known?: KnownTexts): string {
  // Definitions, pins and obligations are what run.started keeps: JSON that was parsed here.
  return canonicalizeOwn(
    {
      definition,
      pins: pins ?? null,
      obligations: obligations ?? null
    },
    known
  )
}
