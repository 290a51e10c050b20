import { isMainThread } from 'node:worker_threads'
import { isJsonObject, type Json } from '../core/index.js'

/** What code can see of the process around it, where it is not as in the first run. */
export interface Ambient {
  readonly now?: number
  readonly newDate?: number
  readonly random?: number
  /** Milliseconds of the clock that only grows. */
  readonly monotonic?: number
  readonly zone?: string
}

/** One thing that is varied between two runs of the same work. */
export interface Variation {
  readonly name: string
  readonly ambient?: Ambient
  readonly isReversed?: true
}

const DAY_MS = 24 * 60 * 60 * 1000
const FIRST_DAY = Date.UTC(2024, 1, 29, 12)
const ANOTHER_DAY = FIRST_DAY + 400 * DAY_MS

/** Each changes one thing of the first run; `nothing`: two equal runs already differ. */
export function variations(): readonly Variation[] {
  const all: Variation[] = [
    { name: 'nothing' },
    { name: 'key order', isReversed: true },
    { name: 'clock', ambient: { now: ANOTHER_DAY } },
    { name: 'new Date()', ambient: { newDate: ANOTHER_DAY } },
    { name: 'chance', ambient: { random: 0.75 } },
    { name: 'monotonic clock', ambient: { monotonic: DAY_MS } }
  ]
  // A worker has no time zone of its own.
  return isMainThread ? [...all, { name: 'time zone', ambient: { zone: otherZone() } }] : all
}

let last: Promise<unknown> = Promise.resolve()

/**
 * Does work with clocks, chance and time zone replaced, and puts them back. What is asked for
 * meanwhile waits: the process has one clock.
 */
export function within<Result>(ambient: Ambient, work: () => Promise<Result>): Promise<Result> {
  const result = last.then(async () => {
    const restore = enter(ambient)
    try {
      return await work()
    } finally {
      restore()
    }
  })
  last = result.catch(() => undefined)
  return result
}

/** What it returns puts back what it replaces. */
function enter({
  now = FIRST_DAY,
  newDate = FIRST_DAY,
  random = 0.25,
  monotonic = 0,
  zone
}: Ambient): () => void {
  const { env } = process
  const before = { Date, ...methods(), zone: env['TZ'] }
  Reflect.set(globalThis, 'Date', datesFrom(newDate))
  Reflect.set(before.Date, 'now', () => now)
  Reflect.set(Math, 'random', () => random)
  const own = Object.getOwnPropertyDescriptor(performance, 'now')
  Object.defineProperty(performance, 'now', { configurable: true, value: () => monotonic })
  if (zone !== undefined) env['TZ'] = zone
  return () => {
    if (own === undefined) Reflect.deleteProperty(performance, 'now')
    else Object.defineProperty(performance, 'now', own)
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

/** The same value with its keys the other way round. */
export function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).reverse()
  return Object.fromEntries(entries.map(([key, member]) => [key, reversed(member)]))
}
