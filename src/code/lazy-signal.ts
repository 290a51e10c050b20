import { copyJson, isJsonObject, type Json, type JsonObject } from '../core/index.js'
import type { BlockTrace } from './context.js'
import type { Request } from './request.js'

/** What can make an abort signal; most code never asks for one, and one costs more than a step. */
export interface SignalSource {
  readonly signal: AbortSignal
}

/**
 * An object with a `signal` that its source makes when it is read. The property is the object's
 * own, so that a copy of the object has it too, and its getter is the same for all: an object with
 * a getter of its own costs ten times as much.
 */
export class LazySignal {
  static readonly #property: PropertyDescriptor & ThisType<LazySignal> = {
    enumerable: true,
    get() {
      return this.#source.signal
    }
  }

  declare readonly signal: AbortSignal
  readonly #source: SignalSource

  constructor(source: SignalSource) {
    this.#source = source
    Object.defineProperty(this, 'signal', LazySignal.#property)
  }
}

interface Source {
  readonly request: Pick<Request, 'context' | 'metadata'>
  readonly lazy: SignalSource
}

/** What a block sees of its attempt and its request, made when it is read. */
export class LazyMembers {
  static readonly #abortSignal: PropertyDescriptor & ThisType<LazyMembers> = {
    enumerable: true,
    get() {
      return this.#of.lazy.signal
    }
  }

  static readonly #context: PropertyDescriptor & ThisType<LazyMembers> = {
    enumerable: true,
    get() {
      this.#known ??= frozen(copyJson(this.#of.request.context))
      return this.#known
    }
  }

  static readonly #trace: PropertyDescriptor & ThisType<LazyMembers> = {
    enumerable: true,
    get() {
      const { traceId, spanId, parentSpanId } = this.#of.request.metadata
      const parent = parentSpanId === undefined ? {} : { parentSpanId }
      return Object.freeze({ traceId, spanId, ...parent })
    }
  }

  declare readonly abortSignal: AbortSignal
  declare readonly context: JsonObject
  declare readonly trace: BlockTrace
  readonly #of: Source
  #known: JsonObject | undefined

  constructor(source: Source) {
    this.#of = source
    Object.defineProperty(this, 'abortSignal', LazyMembers.#abortSignal)
    Object.defineProperty(this, 'context', LazyMembers.#context)
    Object.defineProperty(this, 'trace', LazyMembers.#trace)
  }
}

/** Freezes plain JSON as deep as it goes. */
function frozen<Value extends Json>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  for (const inner of isJsonObject(value) ? Object.values(value) : (value as readonly Json[])) {
    frozen(inner)
  }
  return Object.freeze(value)
}
