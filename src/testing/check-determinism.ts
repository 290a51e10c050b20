import { isMainThread } from 'node:worker_threads'
import { type Block, checkOnce, type Finding, type TapeEntry } from '../block/index.js'
import { canonicalize, isJsonObject, type Json } from '../core/index.js'

export interface DeterminismOptions {
  readonly input: Json
  /** State that the block finds, by key. */
  readonly state?: Readonly<Record<string, Json>>
  /** Answers to its calls in the order of delivery; `seq` counts the calls from 1. */
  readonly tape?: readonly Pick<TapeEntry, 'seq' | 'effect' | 'ok' | 'body'>[]
}

export interface DeterminismCheck {
  /** The code ended, and every run of it was the same. */
  readonly ok: boolean
  /**
   * Why the code did not end: a call that `tape` does not answer, an answer that no call asks for,
   * or a wait for something outside `ctx`. What it does after that was not checked.
   */
  readonly unended?: Finding
  /** What differs: the first run and the one that differs, canonical JSON. */
  readonly differing?: {
    /** What alone was changed between the two; `nothing`: two equal runs already differ. */
    readonly changed: string
    readonly first: string
    readonly second: string
  }
  /** What was changed between the runs, one run each. */
  readonly changed: readonly string[]
}

/**
 * Runs a block several times on the same input, state and answers. Clock and chance stand still in
 * the first run, and each further run changes one thing: the clock, the time zone, chance, the
 * order of keys. The outcome, the changes of state and the capabilities used must be the same
 * (semantics.md K8, double run).
 *
 * It replaces built-ins of the whole process while it runs, so run it where nothing else happens.
 */
export async function checkDeterminism(
  block: Block,
  options: DeterminismOptions
): Promise<DeterminismCheck> {
  const first = await runIn({}, block, options)
  if (first.unended !== undefined) return { ok: false, unended: first.unended, changed: [] }
  const changed: string[] = []
  for (const { name, world = {}, input = options.input } of variations(options)) {
    const second = await runIn(world, block, { ...options, input })
    changed.push(name)
    if (second.text !== first.text) {
      const differing = { changed: name, first: first.text, second: second.text }
      return { ok: false, differing, changed }
    }
  }
  return { ok: true, changed }
}

/** What code can see of the process around it, where it is not as in the first run. */
interface World {
  readonly now?: number
  readonly newDate?: number
  readonly random?: number
  readonly zone?: string
}

interface Variation {
  readonly name: string
  readonly world?: World
  readonly input?: Json
}

const DAY_MS = 24 * 60 * 60 * 1000
const FIRST_DAY = Date.UTC(2024, 1, 29, 12)
const ANOTHER_DAY = FIRST_DAY + 400 * DAY_MS

function variations({ input }: DeterminismOptions): readonly Variation[] {
  const all: Variation[] = [
    { name: 'nothing' },
    { name: 'key order', input: reversed(input) },
    { name: 'clock', world: { now: ANOTHER_DAY } },
    { name: 'new Date()', world: { newDate: ANOTHER_DAY } },
    { name: 'chance', world: { random: 0.75 } }
  ]
  // A worker has no time zone of its own.
  return isMainThread ? [...all, { name: 'time zone', world: { zone: otherZone() } }] : all
}

interface Fingerprint {
  readonly text: string
  readonly unended?: Finding
}

async function runIn(
  world: World,
  block: Block,
  { input, state = {}, tape = [] }: DeterminismOptions
): Promise<Fingerprint> {
  const restore = enter(world)
  try {
    const given = { input, state, tape: tape.map((one) => ({ ...one })) }
    const result = await checkOnce(block, given)
    const { executed } = result
    const text = canonicalize(result)
    return executed.kind === 'diverged' ? { text, unended: executed.finding } : { text }
  } finally {
    restore()
  }
}

/** Replaces clock, chance and time zone; what it returns puts them back. */
function enter({ now = FIRST_DAY, newDate = FIRST_DAY, random = 0.25, zone }: World): () => void {
  const { env } = process
  const before = { Date, ...methods(), zone: env['TZ'] }
  Reflect.set(globalThis, 'Date', datesFrom(newDate))
  Reflect.set(before.Date, 'now', () => now)
  Reflect.set(Math, 'random', () => random)
  if (zone !== undefined) env['TZ'] = zone
  return () => {
    Reflect.set(globalThis, 'Date', before.Date)
    Reflect.set(before.Date, 'now', before.now)
    Reflect.set(Math, 'random', before.random)
    if (zone === undefined) return
    if (before.zone === undefined) delete env['TZ']
    else env['TZ'] = before.zone
  }
}

function methods(): { readonly now: unknown; readonly random: unknown } {
  return { now: Reflect.get(Date, 'now'), random: Reflect.get(Math, 'random') }
}

/** `Date` whose objects without arguments are of a fixed time. */
function datesFrom(at: number): DateConstructor {
  return new Proxy(Date, {
    apply: (target) => new target(at).toString(),
    construct: (target, given, newTarget) =>
      Reflect.construct(target, given.length === 0 ? [at] : given, newTarget)
  })
}

function otherZone(): string {
  const kiritimati = 'Pacific/Kiritimati'
  const { env } = process
  return env['TZ'] === kiritimati ? 'Pacific/Pago_Pago' : kiritimati
}

function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).reverse()
  return Object.fromEntries(entries.map(([key, member]) => [key, reversed(member)]))
}
