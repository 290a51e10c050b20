import {
  type Hash,
  isJsonObject,
  type Json,
  type JsonObject,
  limits,
  runtimeError,
  type TallyError
} from '../../core/index.js'
import type { ArchiveOptions } from '../system/archive-options.js'
import type { ExportOptions } from '../system/exporting.js'

/** Reads the parameters of one service call strictly: known names, right types, nothing besides. */
export class Params {
  readonly #method: string
  readonly #values: JsonObject
  readonly #asked = new Set<string>()

  /** Throws `service.invalid_params` unless the parameters are an object. */
  constructor(method: string, params: Json) {
    this.#method = method
    if (!isJsonObject(params)) throw this.#invalid('they are no object')
    this.#values = params
  }

  text(name: string): string {
    return this.optionalText(name) ?? this.#missing(name)
  }

  optionalText(name: string): string | undefined {
    const value = this.value(name)
    if (value === undefined || typeof value === 'string') return value
    throw this.#invalid(`${name} is no text`)
  }

  optionalObject(name: string): JsonObject | undefined {
    const value = this.value(name)
    if (value === undefined || isJsonObject(value)) return value
    throw this.#invalid(`${name} is no object`)
  }

  /** One of the given words. */
  word<Word extends string>(name: string, words: readonly Word[]): Word {
    const value = this.text(name)
    const word = words.find((one) => one === value)
    if (word === undefined) throw this.#invalid(`${name} is none of ${words.join(', ')}`)
    return word
  }

  /** A whole number from 0. */
  optionalCount(name: string): number | undefined {
    const value = this.value(name)
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
    throw this.#invalid(`${name} is no whole number from 0`)
  }

  /** A whole number from 1 to `max`. */
  optionalCountTo(name: string, max: number): number | undefined {
    const value = this.optionalCount(name)
    if (value === undefined || (value >= 1 && value <= max)) return value
    throw this.#invalid(`${name} is no whole number from 1 to ${max}`)
  }

  optionalWord<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    return this.value(name) === undefined ? undefined : this.word(name, words)
  }

  /** False when it is not given. */
  flag(name: string): boolean {
    const value = this.value(name)
    if (value === undefined || typeof value === 'boolean') return value ?? false
    throw this.#invalid(`${name} is neither true nor false`)
  }

  /** Texts; undefined when they are not given. */
  optionalList(name: string): readonly string[] | undefined {
    const list = this.value(name)
    if (list === undefined) return undefined
    const isList = Array.isArray(list) && list.every((one) => typeof one === 'string')
    if (isList) return list as readonly string[]
    throw this.#invalid(`${name} is no list of texts`)
  }

  /** Objects that have exactly these texts. */
  texts<Name extends string>(
    name: string,
    names: readonly Name[]
  ): readonly Readonly<Record<Name, string>>[] {
    const list = this.value(name) ?? []
    if (!Array.isArray(list)) throw this.#invalid(`${name} is no list`)
    return list.map((item) => this.#textsOf(item, names))
  }

  /** An object that has exactly these texts. */
  optionalTexts<Name extends string>(
    name: string,
    names: readonly Name[]
  ): Readonly<Record<Name, string>> | undefined {
    const value = this.value(name)
    return value === undefined ? undefined : this.#textsOf(value, names)
  }

  #textsOf<Name extends string>(value: Json, names: readonly Name[]): Record<Name, string> {
    const inner = new Params(this.#method, value)
    const entries = names.map((one) => [one, inner.text(one)] as const)
    inner.end()
    return Object.fromEntries(entries) as Record<Name, string>
  }

  value(name: string): Json | undefined {
    this.#asked.add(name)
    return Object.hasOwn(this.#values, name) ? this.#values[name] : undefined
  }

  /** Refuses names that nothing has asked for. */
  end(): void {
    const unknown = Object.keys(this.#values).find((name) => !this.#asked.has(name))
    if (unknown !== undefined) throw this.#invalid(`${shownName(unknown)} is not known`)
  }

  #missing(name: string): never {
    throw this.#invalid(`${name} is missing`)
  }

  #invalid(problem: string): TallyError {
    return runtimeError('service.invalid_params', { method: this.#method, problem })
  }
}

/** The refusal of a method that the service does not have. */
export function unknownMethod(method: string): TallyError {
  return runtimeError('service.unknown_method', { method: shownName(method) })
}

/**
 * A name of a request, for an error that is searched for secrets at once. A long one is not shown
 * in part: half of a secret would not be found.
 */
function shownName(name: string): string {
  const { length } = name
  return length <= limits.OWNER_METHOD_LENGTH_MAX ? name : `of ${length} characters`
}

/** What `export` and `exporting` are asked for. */
export function askedExport(params: Params): ExportOptions {
  const path = params.text('path')
  const signed = !params.flag('unsigned')
  const damaged = params.flag('damaged')
  const archives = params.optionalList('archives')
  params.end()
  return { path, signed, damaged, ...(archives === undefined ? {} : { archives }) }
}

/** What `archiving` is asked for. */
export function askedArchive(params: Params): ArchiveOptions {
  const path = params.text('path')
  const before = params.optionalCount('before')
  const hash = params.optionalText('through')
  const index = params.optionalCount('throughIndex')
  params.end()
  const through = hash === undefined ? index : (hash as Hash)
  return {
    path,
    ...(before === undefined ? {} : { before }),
    ...(through === undefined ? {} : { through })
  }
}
