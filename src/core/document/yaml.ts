import { createRequire } from 'node:module'
import type * as Yaml from 'js-yaml'
import type { Event, MappingEvent, ScalarEvent, SequenceEvent } from 'js-yaml'
import type { Json } from '../json/value.js'
import { JSON_DEPTH_MAX } from '../limits.js'
import { once } from '../once.js'
import { tooDeep } from './nesting.js'
import type { Pieces } from './pieces.js'
import { malformedAt } from './position.js'
import { readPlainScalar } from './scalar.js'
import { isSliceFull, STEPS_OF_CONTAINER, STEPS_OF_SCALAR, spendWork } from './work.js'

/** The way from the root to a node: keys of objects and indexes of arrays. */
export type DocumentPath = readonly (string | number)[]

/** Takes every node where it begins and where it ends, what is inside between the two. */
export interface NodeSink {
  /**
   * `segment` is the node's key or index, undefined at the root; `offset` is that of its key, or of
   * the node where it has none.
   */
  enter(segment: string | number | undefined, offset: number): void
  leave(): void
}

/**
 * Reads YAML text as a JSON value. The event stream of js-yaml is built into values by a loop of
 * our own, so that anchors, aliases, tags, merge keys, duplicate keys and `__proto__` are refused
 * where they stand. The library is one call, which `DOCUMENT_YAML_BYTES_MAX` bounds; the rest is
 * done in pieces. Throws `document.malformed`, or `core.limit_exceeded` for depth.
 */
export function* readingYaml(text: string, sink?: NodeSink): Pieces<Json> {
  const events = eventsOf(text)
  yield
  const builder = new ValueBuilder(text, sink)
  for (const event of events) {
    builder.take(event)
    if (isSliceFull()) yield
  }
  return builder.finish()
}

// Loaded with the first document that is YAML. What it calls its events is repeated here.
const library = once(() => createRequire(import.meta.url)('js-yaml') as typeof Yaml)

const EVENT_ID = {
  DOCUMENT: 1,
  SEQUENCE: 2,
  MAPPING: 3,
  SCALAR: 4,
  ALIAS: 5,
  POP: 6
} satisfies typeof Yaml.EVENT_ID

const PLAIN: typeof Yaml.SCALAR_STYLE.PLAIN = 1

// js-yaml counts some nodes twice; the builder counts exactly.
const parserDepth = 2 * JSON_DEPTH_MAX + 2

function eventsOf(text: string): Event[] {
  const { parseEvents, YAMLException } = library()
  try {
    return parseEvents(text, { maxDepth: parserDepth })
  } catch (error) {
    if (!(error instanceof YAMLException)) throw malformedAt(text, 0, 'it cannot be parsed as YAML')
    if (error.reason.startsWith('nesting exceeded')) throw tooDeep()
    throw malformedAt(text, error.mark?.position ?? 0, error.reason)
  }
}

interface Frame {
  readonly object: Record<string, Json> | undefined
  readonly array: Json[] | undefined
  /** Key of the member whose value comes next. */
  key: string | undefined
}

class ValueBuilder {
  readonly #text: string
  readonly #sink: NodeSink | undefined
  readonly #frames: Frame[] = []
  #documents = 0
  #root: Json | undefined
  #offset = 0
  #keyOffset: number | undefined

  constructor(text: string, sink: NodeSink | undefined) {
    this.#text = text
    this.#sink = sink
  }

  take(event: Event): void {
    spendWork(event.type === EVENT_ID.SCALAR ? STEPS_OF_SCALAR : STEPS_OF_CONTAINER / 2)
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        this.#documents += 1
        if (this.#documents > 1) this.#fail('there is more than one document')
        if (event.directives.some((one) => one.kind !== 'yaml' || one.version !== '1.2')) {
          this.#fail('directives other than "%YAML 1.2" are not allowed')
        }
        break
      case EVENT_ID.ALIAS:
        this.#offset = event.anchorStart - 1
        this.#fail('aliases are not allowed')
        break
      case EVENT_ID.SCALAR:
        this.#scalar(event)
        break
      case EVENT_ID.MAPPING:
      case EVENT_ID.SEQUENCE:
        this.#open(event)
        break
      case EVENT_ID.POP:
        this.#close()
    }
  }

  finish(): Json {
    if (this.#root === undefined) this.#fail('the document is empty')
    return this.#root
  }

  #open(event: MappingEvent | SequenceEvent): void {
    this.#offset = event.start
    this.#refuseProperties(event)
    const parent = this.#frames.at(-1)
    if (parent?.object !== undefined && parent.key === undefined) {
      this.#fail('a key must be a scalar')
    }
    if (this.#frames.length >= JSON_DEPTH_MAX) throw tooDeep()
    this.#enter()
    const value = event.type === EVENT_ID.MAPPING ? {} : []
    this.#attach(value)
    const array = Array.isArray(value) ? value : undefined
    const object = Array.isArray(value) ? undefined : value
    this.#frames.push({ object, array, key: undefined })
  }

  #close(): void {
    if (this.#frames.pop() !== undefined) this.#leave()
  }

  #scalar(event: ScalarEvent): void {
    if (event.valueStart >= 0) this.#offset = event.valueStart
    this.#refuseProperties(event)
    const text = event.valueStart < 0 ? '' : library().getScalarValue(this.#text, event)
    if (!text.isWellFormed()) this.#fail('the text has a lone surrogate')
    const isPlain = event.style === PLAIN
    const frame = this.#frames.at(-1)
    if (frame?.object !== undefined && frame.key === undefined) {
      frame.key = this.#keyOf(frame.object, text, isPlain)
      this.#keyOffset = this.#offset
      return
    }
    this.#enter()
    if (!isPlain) this.#attach(text)
    else {
      const reading = readPlainScalar(text)
      if (!reading.ok) this.#fail(reading.problem)
      this.#attach(reading.value)
    }
    this.#leave()
  }

  #keyOf(object: Record<string, Json>, text: string, isPlain: boolean): string {
    if (isPlain && text === '<<') this.#fail('merge keys are not allowed')
    if (isPlain && text === '') this.#fail('a key is missing')
    if (text === '__proto__') this.#fail('the key "__proto__" is not allowed')
    if (Object.hasOwn(object, text)) this.#fail(`the key ${JSON.stringify(text)} stands twice`)
    return text
  }

  #enter(): void {
    const frame = this.#frames.at(-1)
    const segment = frame === undefined ? undefined : (frame.key ?? frame.array?.length ?? 0)
    this.#sink?.enter(segment, this.#keyOffset ?? this.#offset)
    this.#keyOffset = undefined
  }

  #leave(): void {
    this.#sink?.leave()
  }

  #attach(value: Json): void {
    const frame = this.#frames.at(-1)
    if (frame === undefined) this.#root = value
    else if (frame.array !== undefined) frame.array.push(value)
    else if (frame.object !== undefined && frame.key !== undefined) {
      frame.object[frame.key] = value
      frame.key = undefined
    }
  }

  #refuseProperties(event: ScalarEvent | MappingEvent | SequenceEvent): void {
    if (event.anchorStart >= 0) {
      this.#offset = event.anchorStart - 1
      this.#fail('anchors are not allowed')
    }
    if (event.tagStart >= 0) {
      this.#offset = event.tagStart
      this.#fail('tags are not allowed')
    }
  }

  #fail(problem: string): never {
    throw malformedAt(this.#text, this.#offset, problem)
  }
}
