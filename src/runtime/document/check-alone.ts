import {
  type BlockRegistry,
  type CompositeDefinition,
  compilingDocument,
  type Diagnostic,
  type DocumentDefinition
} from '../../block/index.js'
import type { Request } from '../../code/index.js'
import type { Json, Pieces } from '../../core/index.js'
import { loadExpressions } from '../../expression/index.js'
import { DocumentSlices } from './document-slices.js'
import { mentionsCel, plainExpressions } from './plain-expressions.js'

/** What a document says by itself, and the names of it that only a configuration can tell of. */
export interface CheckedAlone {
  readonly diagnostics: readonly Diagnostic[]
  /** Sorted, each once. */
  readonly names: UncheckedNames
}

export interface UncheckedNames {
  readonly blocks: readonly string[]
  readonly conditions: readonly string[]
  readonly documents: readonly string[]
  readonly repairs: readonly string[]
}

/**
 * Compiles a definition as if each of its names led somewhere: expressions, shapes of values and
 * references are checked, and what the names would lead to is listed rather than passed over.
 */
export async function checkAlone(definition: DocumentDefinition): Promise<CheckedAlone> {
  const source = definition as unknown as Json
  const slices = new DocumentSlices(source)
  const names = new StandIns()
  const found = await slices.takeEach(checking(definition, names, await expressionsOf(source)))
  return { diagnostics: found.ok ? found.value : found.diagnostics, names: names.asked() }
}

type Expressions = typeof plainExpressions

async function expressionsOf(source: Json): Promise<Expressions> {
  const slices = new DocumentSlices(source)
  const asked = await slices.takeEach(mentionsCel(source))
  return asked.ok && !asked.value ? plainExpressions : loadExpressions()
}

function* checking(
  definition: DocumentDefinition,
  registry: BlockRegistry,
  expressions: Expressions
): Pieces<readonly Diagnostic[]> {
  const compiled = yield* compilingDocument(definition, { registry, expressions })
  const { doubtful } = compiled
  return compiled.ok ? doubtful : [...compiled.diagnostics, ...doubtful]
}

/** Answers for every name with something that fits anywhere, and remembers what was asked for. */
class StandIns implements BlockRegistry {
  readonly #blocks = new Set<string>()
  readonly #conditions = new Set<string>()
  readonly #documents = new Set<string>()
  readonly #repairs = new Set<string>()

  block(name: string) {
    this.#blocks.add(name)
    return { name, version: '0', sideEffects: 'none' } as const
  }

  composite(name: string): CompositeDefinition {
    this.#documents.add(name)
    return { name, version: '0', maxSteps: 1, atomic: false, ...nothing }
  }

  condition(name: string) {
    this.#conditions.add(name)
    return () => true
  }

  repair(name: string) {
    this.#repairs.add(name)
    return (request: Request) => request
  }

  asked(): UncheckedNames {
    const sorted = (names: ReadonlySet<string>) => [...names].filter(isNamed).sort()
    return {
      blocks: sorted(this.#blocks),
      conditions: sorted(this.#conditions),
      documents: sorted(this.#documents),
      repairs: sorted(this.#repairs)
    }
  }
}

/** The one node of a stand-in for a document. */
const NOTHING = 'tally.nothing'
const isNamed = (name: string) => name !== NOTHING
const nothing: Pick<CompositeDefinition, 'entryPoint' | 'nodes' | 'transitions'> = {
  entryPoint: 'nothing',
  nodes: {
    nothing: {
      work: { kind: 'block', block: NOTHING },
      context: [],
      recovery: [],
      onError: 'stop'
    }
  },
  transitions: {}
}
