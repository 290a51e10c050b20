import { isMainThread } from 'node:worker_threads'
import { type Block, checkOnce, type TapeEntry } from '../block/index.js'
import { canonicalize, isJsonObject, type Json } from '../core/index.js'

export interface DeterminismOptions {
  readonly input: Json
  /** State that the block finds, by key. */
  readonly state?: Readonly<Record<string, Json>>
  /** Answers to its calls in the order of delivery; `seq` counts the calls from 1. */
  readonly tape?: readonly Pick<TapeEntry, 'seq' | 'effect' | 'ok' | 'body'>[]
}

export interface DeterminismCheck {
  readonly ok: boolean
  /** What differs: the first run and the one that differs, canonical JSON. */
  readonly differing?: {
    readonly changed: string
    readonly first: string
    readonly second: string
  }
  /** What was changed between the runs, one run each. */
  readonly changed: readonly string[]
}

/**
 * Runs a block several times on the same input, state and answers, each time with something else
 * around it: the clock, the time zone, chance, the order of keys. The outcome, the changes of state
 * and the capabilities used must be the same (semantics.md K8, double run).
 *
 * It stands in for the world around it, so run it where nothing else is going on.
 */
export async function checkDeterminism(
  block: Block,
  options: DeterminismOptions
): Promise<DeterminismCheck> {
  const first = await fingerprint(block, options)
  const changed: string[] = []
  for (const { name, run } of surroundings()) {
    const second = await run((given) => fingerprint(block, given), options)
    changed.push(name)
    if (second !== first) return { ok: false, differing: { changed: name, first, second }, changed }
  }
  return { ok: true, changed }
}

type Attempt = (options: DeterminismOptions) => Promise<string>

interface Surrounding {
  readonly name: string
  run(attempt: Attempt, options: DeterminismOptions): Promise<string>
}

async function fingerprint(block: Block, options: DeterminismOptions): Promise<string> {
  const { input, state = {}, tape = [] } = options
  return canonicalize(
    await checkOnce(block, { input, state, tape: tape.map((one) => ({ ...one })) })
  )
}

const ANOTHER_DAY_MS = 400 * 24 * 60 * 60 * 1000

function surroundings(): readonly Surrounding[] {
  const all: Surrounding[] = [
    { name: 'nothing', run: (attempt, options) => attempt(options) },
    {
      name: 'key order',
      run: (attempt, { input, ...rest }) => attempt({ ...rest, input: reversed(input) })
    },
    { name: 'clock', run: withMethod(Date, 'now', (now) => Number(now()) + ANOTHER_DAY_MS) },
    { name: 'new Date()', run: withAnotherDay },
    { name: 'chance', run: withMethod(Math, 'random', (random) => 1 - Number(random()) / 2) }
  ]
  // A worker has no time zone of its own.
  return isMainThread ? [...all, { name: 'time zone', run: inAnotherZone }] : all
}

function withMethod(
  owner: object,
  name: string,
  change: (original: () => unknown) => unknown
): Surrounding['run'] {
  return async (attempt, options) => {
    const original: unknown = Reflect.get(owner, name)
    if (typeof original !== 'function') return attempt(options)
    Reflect.set(owner, name, () => change(() => Reflect.apply(original, owner, [])))
    try {
      return await attempt(options)
    } finally {
      Reflect.set(owner, name, original)
    }
  }
}

const withAnotherDay: Surrounding['run'] = async (attempt, options) => {
  const original = Date
  const later = new Proxy(original, {
    construct(target, given, newTarget) {
      const at =
        given.length === 0 ? [Reflect.apply(target.now, target, []) + ANOTHER_DAY_MS] : given
      return Reflect.construct(target, at, newTarget)
    }
  })
  Reflect.set(globalThis, 'Date', later)
  try {
    return await attempt(options)
  } finally {
    Reflect.set(globalThis, 'Date', original)
  }
}

const inAnotherZone: Surrounding['run'] = async (attempt, options) => {
  const { env } = process
  const before = env['TZ']
  env['TZ'] = before === 'Pacific/Kiritimati' ? 'Pacific/Pago_Pago' : 'Pacific/Kiritimati'
  try {
    return await attempt(options)
  } finally {
    if (before === undefined) delete env['TZ']
    else env['TZ'] = before
  }
}

function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).reverse()
  return Object.fromEntries(entries.map(([key, member]) => [key, reversed(member)]))
}
