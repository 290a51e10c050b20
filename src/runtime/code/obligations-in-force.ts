import { immediateCapabilities } from '../../capability/index.js'
import {
  type Block,
  type BlockObligation,
  type DeclaredObligation,
  declaredObligation,
  joinedObligation,
  type Obligations
} from '../../code/index.js'
import { referenceTo, runtimeError, type TallyError } from '../../core/index.js'

/**
 * What holds for blocks, packages and effects whatever a document says (semantics.md K14), beside
 * what blocks declare themselves; of both, the stricter.
 */
export interface ObligationOptions {
  /** By `name`, or by `name@version`. */
  readonly blocks?: Readonly<Record<string, DeclaredObligation>>
  /** By the package's id; of `limits`, `attempts`. */
  readonly packages?: Readonly<Record<string, DeclaredObligation>>
  /** By the name of an effect, or of a package's capability: whichever code asks for it. */
  readonly effects?: Readonly<Record<string, Pick<DeclaredObligation, 'confirm'>>>
}

/**
 * The obligations in force now, which new runs begin with. Runs that began before have pinned
 * theirs.
 *
 * Owns: what was declared, which only grows. Does not own: what runs have pinned.
 */
export class ObligationsInForce {
  readonly #hosted: ReadonlyMap<string, BlockObligation>
  readonly #rest: Omit<Obligations, 'blocks'>
  readonly #blocks = new Map<string, BlockObligation>()
  #bound: BoundBlocks

  /** Throws `runtime.invalid_obligation`. */
  constructor({ blocks = {}, packages = {}, effects = {} }: ObligationOptions = {}) {
    this.#hosted = new Map(Object.entries(checked('block', blocks)))
    const rest = { packages: checked('package', packages), effects: checked('effect', effects) }
    for (const name of Object.keys(rest.effects)) {
      if (!immediateCapabilities.has(name)) continue
      throw invalidObligation('effect', name, 'packages do it while their code runs, unasked')
    }
    this.#rest = withoutEmpty(rest)
    this.#bound = new BoundBlocks(Object.keys(this.#rest).length === 0 ? undefined : this.#rest)
  }

  /** Throws `runtime.invalid_obligation` for a name that no block has. */
  async check(block: (name: string) => Promise<Block | undefined>): Promise<void> {
    for (const name of this.#hosted.keys()) {
      if ((await block(name)) !== undefined) continue
      throw invalidObligation('block', name, 'no such block is registered')
    }
  }

  /** All of them; undefined when there are none. */
  get all(): Obligations | undefined {
    return this.#bound.run
  }

  /** Throws `runtime.invalid_obligation`. */
  add(block: Block): void {
    const { name, version, declares } = block
    const reference = referenceTo(name, version)
    const hosted = joined(name, this.#hosted.get(reference), this.#hosted.get(name))
    const found = joined(name, hosted, declares)
    if (found === undefined) return
    this.#blocks.set(reference, found)
    this.#bound = new BoundBlocks({ ...this.#rest, blocks: Object.fromEntries(this.#blocks) })
  }

  /** The block with what holds for it now. */
  bind(block: Block): Block {
    return this.#bound.of(block)
  }
}

/** Blocks with what holds for them in a run, each made once. */
export class BoundBlocks {
  readonly run: Obligations | undefined
  readonly #known = new WeakMap<Block, Block>()

  constructor(run: Obligations | undefined) {
    this.run = run
  }

  of(block: Block): Block {
    const { run } = this
    if (run === undefined) return block
    const known = this.#known.get(block)
    if (known !== undefined) return known
    const { blocks = {} } = run
    const reference = referenceTo(block.name, block.version)
    const own = Object.hasOwn(blocks, reference) ? blocks[reference] : undefined
    const bound = Object.freeze<Block>({ ...block, obligations: { own, run } })
    this.#known.set(block, bound)
    return bound
  }
}

/** Of all that is in force, what a run that reaches these blocks has to pin. */
export function pinnedObligations(
  all: Obligations | undefined,
  reached: readonly Block[]
): Obligations | undefined {
  if (all === undefined) return undefined
  // Whom the kernel chooses is known when it runs.
  if (reached.some(({ kernel }) => kernel !== undefined)) return all
  const names = new Set(reached.map(({ name, version }) => referenceTo(name, version)))
  const blocks = Object.entries(all.blocks ?? {}).filter(([name]) => names.has(name))
  const { effects = {} } = all
  const pinned = withoutEmpty({ blocks: Object.fromEntries(blocks), effects })
  return Object.keys(pinned).length === 0 ? undefined : pinned
}

function withoutEmpty(given: Obligations): Obligations {
  const entries = Object.entries(given).filter(([, by]) => Object.keys(by).length > 0)
  return Object.fromEntries(entries)
}

function joined(
  name: string,
  one: BlockObligation | undefined,
  other: BlockObligation | undefined
): BlockObligation | undefined {
  const found = joinedObligation(one, other)
  if (found === undefined || !('problem' in found)) return found
  throw invalidObligation('block', name, found.problem)
}

function checked(
  what: string,
  declared: Readonly<Record<string, DeclaredObligation>>
): Readonly<Record<string, BlockObligation>> {
  const entries = Object.entries(declared).flatMap(([name, one]) => {
    const found = declaredObligation(one)
    if (found === undefined) return []
    if ('problem' in found) throw invalidObligation(what, name, found.problem)
    return [[name, found] as const]
  })
  return Object.fromEntries(entries)
}

function invalidObligation(what: string, name: string, problem: string): TallyError {
  return runtimeError('runtime.invalid_obligation', { what, name, problem })
}
