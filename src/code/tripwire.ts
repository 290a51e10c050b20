import { AsyncLocalStorage } from 'node:async_hooks'
import * as crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { limits } from '../core/index.js'
import { DeterminismViolation } from './context.js'

/**
 * Finds trusted code that reads the clock, chance or the network past `ctx` (semantics.md K8). For
 * development and tests: it wraps globals, which nothing else here does, and follows every block's
 * code through its awaits, which costs time. Until it is installed nothing is wrapped or followed.
 *
 * Owns: the wrapped globals, from `installTripwire` until the function that it returns is called.
 *
 * - K8: outside a block's code everything is as it was; a wrapped function only looks where it is.
 */

/** One execution of a block's code; keeps what it touched even when the code swallows the error. */
export interface WatchedCode {
  violation: DeterminismViolation | undefined
}

let storage: AsyncLocalStorage<WatchedCode | undefined> | undefined
/** Hears of what a block touches; undefined: the attempt fails. */
let hears: ((touched: TouchedOutside) => void) | undefined

/** What a block's code has touched past `ctx`, and where. */
export interface TouchedOutside {
  readonly api: string
  /** The line of its stack, as engines write it; empty where none is known. */
  readonly line: string
}

/** Runs a block's code so that it is known to be one, when the tripwire is installed. */
export function insideBlock<Result>(code: WatchedCode, run: () => Result): Result {
  return storage === undefined ? run() : storage.run(code, run)
}

/** Runs what a block's code asked for: it is not that code. */
export function outsideBlock<Result>(run: () => Result): Result {
  return storage === undefined ? run() : storage.run(undefined, run)
}

/**
 * Makes `Date.now`, `new Date()`, `Math.random`, `performance.now`, random values of `crypto`,
 * `fetch` and timers throw `DeterminismViolation` inside blocks, whose attempt then fails with the
 * reason `determinism_violation`. Installed once; returns what takes it out again.
 */
export function installTripwire(): () => void {
  return install(undefined)
}

/**
 * The same for development: what is touched is told with its line, once for each, and the code
 * continues. Where a tripwire is installed already, that one stays.
 */
export function watchBlocks(tell: (touched: TouchedOutside) => void): () => void {
  const told = new Set<string>()
  return install((touched) => {
    const { api, line } = touched
    if (told.size >= limits.CACHE_ENTRIES_MAX || told.has(`${api} ${line}`)) return
    told.add(`${api} ${line}`)
    outsideBlock(() => tell(touched))
  })
}

function install(tell: typeof hears): () => void {
  if (storage !== undefined) return () => undefined
  storage = new AsyncLocalStorage()
  hears = tell
  const undo = [
    ...watched().map(({ owner, name, label }) => guard(owner, name, label)),
    guardDate()
  ]
  syncBuiltinESMExports()
  return () => {
    for (const restore of undo.reverse()) restore()
    syncBuiltinESMExports()
    storage = undefined
    hears = undefined
  }
}

interface Watched {
  readonly owner: object
  readonly name: string
  readonly label: string
}

function watched(): readonly Watched[] {
  const web = globalThis.crypto
  const nodeCrypto = (crypto as unknown as { readonly default: object }).default
  const of = (owner: object, prefix: string, names: readonly string[]): readonly Watched[] =>
    names.map((name) => ({ owner, name, label: prefix + name }))
  return [
    ...of(Date, 'Date.', ['now']),
    ...of(Math, 'Math.', ['random']),
    ...of(performance, 'performance.', ['now']),
    ...of(web, 'crypto.', ['getRandomValues', 'randomUUID']),
    ...of(nodeCrypto, 'node:crypto ', ['randomBytes', 'randomInt', 'randomUUID']),
    ...of(globalThis, '', ['fetch', 'setImmediate', 'setInterval', 'setTimeout'])
  ]
}

/** Replaces a method by one that first looks where it is called; returns what undoes it. */
function guard(owner: object, name: string, label: string): () => void {
  const own = Object.getOwnPropertyDescriptor(owner, name)
  const original: unknown = Reflect.get(owner, name)
  if (typeof original !== 'function') return () => undefined
  const guarded = new Proxy(original, {
    apply(target, self, given) {
      trip(label)
      return Reflect.apply(target, self, given)
    }
  })
  Object.defineProperty(owner, name, {
    configurable: true,
    enumerable: own?.enumerable ?? true,
    writable: true,
    value: guarded
  })
  return () => {
    if (own === undefined) Reflect.deleteProperty(owner, name)
    else Object.defineProperty(owner, name, own)
  }
}

/** `new Date()` and `Date()` read the clock; with a time given they do not. */
function guardDate(): () => void {
  const original = Date
  const guarded = new Proxy(original, {
    apply(target, self, given) {
      trip('Date()')
      return Reflect.apply(target, self, given)
    },
    construct(target, given, newTarget) {
      if (given.length === 0) trip('new Date()')
      return Reflect.construct(target, given, newTarget)
    }
  })
  Reflect.set(globalThis, 'Date', guarded)
  return () => {
    Reflect.set(globalThis, 'Date', original)
  }
}

function trip(api: string): void {
  const code = storage?.getStore()
  if (code === undefined) return
  if (hears !== undefined) return hears({ api, line: lineOfProgram() })
  code.violation ??= new DeterminismViolation('determinism_violation', { api })
  throw code.violation
}

/** The first line of the stack that is neither this file's nor of a library. */
function lineOfProgram(): string {
  const lines = (new Error().stack ?? '').split('\n').slice(1)
  const own = lines.filter((line) => !/\bcode[/\\]tripwire\.[jt]s/.test(line))
  const user = own.find((line) => !/node:|[/\\]node_modules[/\\]/.test(line))
  return (user ?? own[0] ?? '').trim()
}
