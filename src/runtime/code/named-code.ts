import type {
  BlockRegistry,
  ConditionPredicate,
  DocumentDefinition,
  Pins,
  Provider,
  Repair
} from '../../block/index.js'
import type { Block, Obligations, Workflow } from '../../code/index.js'
import {
  referenceTo,
  runtimeError,
  type Versioned,
  VersionTable,
  versionedName
} from '../../core/index.js'
import { BoundBlocks } from './obligations-in-force.js'

/** What documents may name, by kind. */
interface CodeKinds {
  readonly blocks: Block
  readonly composites: DocumentDefinition
  readonly conditions: ConditionPredicate
  readonly repairs: Repair
  /** Functions, which no document names. */
  readonly workflows: Workflow
}

export type CodeKind = keyof CodeKinds

const pinnedKinds = ['blocks', 'composites', 'conditions', 'repairs'] as const
type PinnedKind = (typeof pinnedKinds)[number]

/**
 * Blocks, composites, conditions and repairs by name and version (B10).
 *
 * Owns: the tables, which only grow. Does not own: which version a run uses, which its pins say.
 */
export class NamedCode {
  readonly #tables: { readonly [Kind in CodeKind]: VersionTable<CodeKinds[Kind]> } = {
    blocks: new VersionTable(),
    composites: new VersionTable(),
    conditions: new VersionTable(),
    repairs: new VersionTable(),
    workflows: new VersionTable()
  }

  /** Throws `runtime.duplicate_name` for a version that is there already. */
  add<Kind extends CodeKind>(
    kind: Kind,
    { name, version }: { readonly name: string; readonly version: string | undefined },
    value: CodeKinds[Kind]
  ): void {
    if (this.#tables[kind].add(name, version, value)) return
    throw runtimeError('runtime.duplicate_name', {
      what: kind,
      name: referenceTo(name, version)
    })
  }

  /** Functions by `name` or `name@version`. */
  addFunctions<Kind extends 'conditions' | 'repairs'>(
    kind: Kind,
    functions: Readonly<Record<string, CodeKinds[Kind]>>
  ): void {
    for (const [reference, value] of Object.entries(functions)) {
      this.add(kind, versionedName(reference), value)
    }
  }

  resolve<Kind extends CodeKind>(
    kind: Kind,
    reference: string
  ): Versioned<CodeKinds[Kind]> | undefined {
    return this.#tables[kind].resolve(reference)
  }

  exact<Kind extends CodeKind>(
    kind: Kind,
    name: string,
    version: string | undefined
  ): Versioned<CodeKinds[Kind]> | undefined {
    return this.#tables[kind].exact(name, version)
  }

  versions(kind: CodeKind, name: string): readonly (string | undefined)[] {
    return this.#tables[kind].versions(name)
  }

  /** What pins name and is not registered, as `name@version`, sorted. */
  missing(pins: Pins): readonly string[] {
    const missing = pinnedKinds.flatMap((kind) =>
      Object.entries(pins[kind] ?? {})
        .filter(([name, version]) => this.exact(kind, name, version) === undefined)
        .map(([name, version]) => referenceTo(name, version))
    )
    return [...new Set(missing)].sort()
  }

  values<Kind extends CodeKind>(kind: Kind): Iterable<CodeKinds[Kind]> {
    return this.#tables[kind].values()
  }
}

/** What one document has looked up, in order, with where it led. */
export interface FoundCode {
  readonly named: readonly {
    readonly kind: CodeKind
    readonly reference: string
    readonly found: Versioned<unknown> | undefined
  }[]
  readonly providers: ReadonlyMap<string, Provider | undefined>
}

/**
 * Where the names of one document lead: by what its run has pinned, else by what is registered now.
 *
 * Owns: what was asked for, from which pins and what is missing follow. Does not own: the code.
 */
export class NameScope implements BlockRegistry {
  readonly #code: NamedCode
  readonly #pins: Pins | undefined
  readonly #bound: BoundBlocks
  readonly #provider: (name: string) => Provider | undefined
  readonly #found = new Map<string, Versioned<unknown> | undefined>()
  readonly #asked: { readonly kind: CodeKind; readonly reference: string }[] = []
  readonly #kernels = new Map<string, Block>()
  readonly #providers = new Map<string, Provider | undefined>()

  constructor(
    code: NamedCode,
    options: {
      readonly provider: (name: string) => Provider | undefined
      /** Of a run that began before; absent: names lead to what is registered now. */
      readonly pins?: Pins | undefined
      /** What holds for blocks in the run (K14). */
      readonly obligations?: Obligations | undefined
    }
  ) {
    this.#code = code
    this.#pins = options.pins
    this.#provider = options.provider
    this.#bound = new BoundBlocks(options.obligations)
  }

  block(reference: string): Block | undefined {
    const block = this.#find('blocks', reference)?.value
    const pinned = this.#pins?.blocks
    if (block === undefined) return undefined
    const isFree = block.kernel === undefined || pinned === undefined
    return this.#bound.of(isFree ? block : this.#kernel(block, pinned))
  }

  /** A leaf of the kernel, which chooses among blocks as the run has pinned them. */
  #kernel(block: Block, pinned: NonNullable<Pins['blocks']>): Block {
    const known = this.#kernels.get(block.name)
    const { kernel } = block
    if (known !== undefined || kernel === undefined) return known ?? block
    const bound = Object.freeze<Block>({
      ...block,
      kernel: {
        run: (port, input) => kernel.run(port, input, pinned),
        codeOf: (recorded) => kernel.codeOf(recorded)
      }
    })
    this.#kernels.set(block.name, bound)
    return bound
  }

  /** A block that no table has, with what holds for it in the run. */
  bind(block: Block): Block {
    return this.#bound.of(block)
  }

  composite(reference: string): DocumentDefinition | undefined {
    return this.#find('composites', reference)?.value
  }

  condition(reference: string): ConditionPredicate | undefined {
    return this.#find('conditions', reference)?.value
  }

  repair(reference: string): Repair | undefined {
    return this.#find('repairs', reference)?.value
  }

  functionVersion(kind: 'condition' | 'repair', reference: string): string | undefined {
    if (versionedName(reference).version !== undefined) return undefined
    return this.#find(kind === 'condition' ? 'conditions' : 'repairs', reference)?.version
  }

  provider(name: string): Provider | undefined {
    const found = this.#provider(name)
    this.#providers.set(name, found)
    return found
  }

  /** Everything that was looked up. */
  foundCode(): FoundCode {
    const named = this.#asked.map(({ kind, reference }) => {
      return { kind, reference, found: this.#found.get(`${kind} ${reference}`) }
    })
    return { named, providers: this.#providers }
  }

  /** Looks up what another scope has, and says whether all of it is the same. */
  finds({ named, providers }: FoundCode): boolean {
    for (const { kind, reference, found } of named) {
      const own = this.#find(kind, reference)
      if (own?.value !== found?.value || own?.version !== found?.version) return false
    }
    for (const [name, found] of providers) if (this.provider(name) !== found) return false
    return true
  }

  #find<Kind extends CodeKind>(
    kind: Kind,
    reference: string
  ): Versioned<CodeKinds[Kind]> | undefined {
    const key = `${kind} ${reference}`
    const known = this.#found.get(key)
    // Only what this kind's table has given is kept under its key.
    if (known !== undefined) return known as Versioned<CodeKinds[Kind]>
    const found = this.#resolve(kind, reference)
    if (!this.#found.has(key)) this.#asked.push({ kind, reference })
    this.#found.set(key, found)
    return found
  }

  #resolve<Kind extends CodeKind>(
    kind: Kind,
    reference: string
  ): Versioned<CodeKinds[Kind]> | undefined {
    const { name, version } = versionedName(reference)
    if (this.#pins === undefined || version !== undefined)
      return this.#code.resolve(kind, reference)
    return this.#code.exact(kind, name, pinOf(this.#pins, kind, name))
  }

  /** What names alone led to, as far as it has versions; undefined when nothing has. */
  pins(): Pins | undefined {
    const pins: { [Kind in PinnedKind]?: Record<string, string> } = {}
    for (const { kind, reference } of this.#asked) {
      const found = this.#found.get(`${kind} ${reference}`)
      if (kind === 'workflows') continue
      if (found?.version === undefined || reference !== found.name) continue
      const versions = pins[kind] ?? {}
      pins[kind] = { ...versions, [found.name]: found.version }
    }
    return pinnedKinds.some((kind) => pins[kind] !== undefined) ? pins : undefined
  }

  /** Blocks and documents that were asked for, and are there. */
  found(): {
    readonly blocks: readonly Block[]
    readonly composites: readonly DocumentDefinition[]
  } {
    const of = <Kind extends CodeKind>(kind: Kind) =>
      this.#asked.flatMap((asked) => {
        const found = this.#found.get(`${asked.kind} ${asked.reference}`)
        // Found under its kind.
        return asked.kind === kind && found ? [found.value as CodeKinds[Kind]] : []
      })
    return { blocks: of('blocks'), composites: of('composites') }
  }

  /** What was asked for and is not registered, each as `name@version`, sorted. */
  missing(): readonly string[] {
    const missing = this.#asked.filter(
      ({ kind, reference }) => this.#found.get(`${kind} ${reference}`) === undefined
    )
    const named = missing.map(({ kind, reference }) => this.#pinnedReference(kind, reference))
    return [...new Set(named)].sort()
  }

  #pinnedReference(kind: CodeKind, reference: string): string {
    const pin = pinOf(this.#pins, kind, reference)
    return pin === undefined ? reference : referenceTo(reference, pin)
  }
}

/**
 * Stands for code that is not here: what pins say of it is all that a definition hash covers. What
 * is compiled with it can be named, and never run. Other documents are not known to it.
 */
export function pinnedNames(pins: Pins): BlockRegistry {
  return {
    block: (reference) => {
      const { name, version = pinOf(pins, 'blocks', name) } = versionedName(reference)
      return version === undefined ? undefined : { name, version, sideEffects: 'none' }
    },
    composite: () => undefined,
    condition: () => () => false,
    repair: () => (request) => request,
    functionVersion: (kind, name) =>
      pinOf(pins, kind === 'condition' ? 'conditions' : 'repairs', name)
  }
}

function pinOf(pins: Pins | undefined, kind: CodeKind, name: string): string | undefined {
  const versions = (kind === 'workflows' ? undefined : pins?.[kind]) ?? {}
  return Object.hasOwn(versions, name) ? versions[name] : undefined
}
