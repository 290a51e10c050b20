import type { Pieces } from '../document/pieces.js'
import { DocumentWork, inSlices, isSliceFull } from '../document/work.js'
import { canonicalize } from '../json/canonicalize.js'
import { isJsonObject, type Json } from '../json/value.js'
import {
  SECRET_LENGTH_MIN,
  SECRET_LEVELS_MAX,
  SECRETS_KNOWN_MAX,
  VALUE_BYTES_MAX
} from '../limits.js'
import { bytesOver } from '../text.js'
import { boundaryOf, openEscapeAt, type View, viewsOf, viewsOfEnd } from './escapes.js'
import { formsOf } from './forms.js'
import { Patterns } from './patterns.js'
import { RedactedStream } from './redacted-stream.js'
import { readSecret, type SecretSources } from './reference.js'
import { credentialsOf } from './url-parts.js'

/** A part of a text that holds a secret, and what stands for it. */
export interface SecretPlace {
  readonly from: number
  readonly to: number
  readonly reference: string
}

/** As long as the shortest secret, so that no text gets longer by it. */
const SHORT_MARK = '[secret]'

/**
 * Knows the secrets that were read, and replaces them by their references wherever they stand.
 *
 * Owns: the secrets, by reference. A runtime has one and hands it to whatever reads secrets;
 * what was made before the runtime, such as the executor of a chain, has its own, which the
 * runtime's includes. Does not own: secrets that no part of the program has told it.
 *
 * - S1 A secret of `SECRET_LENGTH_MIN` characters or more is found as it is, percent-encoded,
 *   escaped as JSON, in base64, base64url and hex, also inside a longer text that was encoded as a
 *   whole, and where these are combined to `SECRET_LEVELS_MAX` levels of escapes.
 * - S2 What is left has none of these forms, however a text was cut into chunks.
 * - S3 Without a secret a text is not looked at.
 */
export class Redactor {
  /** References by secret; the one that was read longest ago is first. */
  readonly #secrets = new Map<string, string>()
  readonly #exempt = new Set<string>()
  readonly #included = new Set<Redactor>()
  #changes = 0
  #compiled: Compiled | undefined
  readonly #cleaners: { [Form in keyof Cleaned]: (given: Cleaned[Form]) => Pieces<Cleaned[Form]> } =
    {
      text: (text) => this.#cleaningText(text, undefined),
      json: (value) => this.#cleaningJson(value, undefined),
      canonical: (text) => this.#cleaning(text)
    }

  /** Learns a secret; blanks around it are no part of it. */
  know(reference: string, secret: string): void {
    const text = secret.trim()
    if (text === '') return
    if (text.length < SECRET_LENGTH_MIN) {
      if (this.#exempt.size < SECRETS_KNOWN_MAX) this.#exempt.add(reference)
      return
    }
    const isKnown = this.#secrets.delete(text)
    this.#secrets.set(text, reference)
    if (isKnown) return
    this.#changes += 1
    const [oldest] = this.#secrets.keys()
    if (this.#secrets.size > SECRETS_KNOWN_MAX && oldest !== undefined) {
      this.#secrets.delete(oldest)
    }
  }

  /** Learns what is secret in an address that is not secret as a whole: user, password, query. */
  knowAddress(reference: string, address: string): void {
    for (const part of credentialsOf(address)) this.know(reference, part)
  }

  /** Reads a secret and learns it; undefined for no reference and for no secret. */
  async read(reference: string, sources: SecretSources): Promise<string | undefined> {
    const found = await readSecret(reference, sources)
    if (found !== undefined) this.know(reference, found)
    return found
  }

  /**
   * Knows from now on what another one knows and learns; it may be of another install of this
   * library, so only public members of it are used.
   */
  include(other: Redactor): void {
    if (other !== this) this.#included.add(other)
  }

  /** References to secrets that are too short to be looked for. */
  get exempt(): readonly string[] {
    return [...new Set([...this.#exempt, ...[...this.#included].flatMap(({ exempt }) => exempt)])]
  }

  get isEmpty(): boolean {
    if (this.#secrets.size > 0) return false
    for (const other of this.#included) if (!other.isEmpty) return false
    return true
  }

  text(text: string): string {
    return this.#replaced(text, undefined)
  }

  /** JSON whose texts hold no secret, the names of members included. */
  json(value: Json): Json {
    return this.isEmpty ? value : this.#json(value, undefined)
  }

  /**
   * Canonical JSON text without secrets. It stays within the size of a value if it was: where the
   * references are too long for that, something shorter stands for them.
   */
  canonical(text: string): string {
    const places = this.places(text)
    if (places.length === 0) return text
    // Canonical text is JSON by definition.
    const value = JSON.parse(text) as Json
    const mark = markFor(text, places)
    const clean = canonicalize(this.#json(value, mark))
    const isTooLarge = mark === undefined && bytesOver(clean, VALUE_BYTES_MAX) !== undefined
    return isTooLarge ? canonicalize(this.#json(value, SHORT_MARK)) : clean
  }

  /**
   * {@link text}, {@link json} or {@link canonical} with turns of the event loop between the parts
   * of long texts: one of millions of escapes reads in many ways, and looking at it takes seconds.
   */
  async inTurns<Form extends keyof Cleaned>(
    form: Form,
    given: Cleaned[Form]
  ): Promise<Cleaned[Form]> {
    return this.isEmpty ? given : inSlices(this.#cleaners[form](given), new DocumentWork())
  }

  *#cleaning(text: string): Pieces<string> {
    const places = yield* this.#placing(text)
    if (places.length === 0) return text
    // Canonical text is JSON by definition.
    const value = JSON.parse(text) as Json
    const mark = markFor(text, places)
    const clean = canonicalize(yield* this.#cleaningJson(value, mark))
    const isTooLarge = mark === undefined && bytesOver(clean, VALUE_BYTES_MAX) !== undefined
    return isTooLarge ? canonicalize(yield* this.#cleaningJson(value, SHORT_MARK)) : clean
  }

  /** `mark` stands for each secret, or its reference does. */
  *#cleaningJson(value: Json, mark: string | undefined): Pieces<Json> {
    if (isSliceFull()) yield
    if (typeof value === 'string') return yield* this.#cleaningText(value, mark)
    if (typeof value !== 'object' || value === null) return this.#json(value, mark)
    const members: [string, Json][] = []
    for (const [key, member] of Object.entries<Json>(value)) {
      members.push([key, yield* this.#cleaningJson(member, mark)])
    }
    if (Array.isArray(value)) return members.map(([, member]) => member)
    const named: [string, Json][] = []
    for (const [name, member] of members)
      named.push([yield* this.#cleaningText(name, mark), member])
    return Object.fromEntries(named)
  }

  *#cleaningText(text: string, mark: string | undefined): Pieces<string> {
    const places = yield* this.#placing(text)
    return replaced(text, places, mark ?? markFor(text, places))
  }

  /**
   * {@link places} in pieces: of a long text part by part, each as long as it has to be for
   * something in it to be settled.
   */
  *#placing(text: string): Pieces<readonly SecretPlace[]> {
    if (text.length <= SEARCHED_AT_ONCE) return this.places(text)
    const found: SecretPlace[] = []
    let from = 0
    for (let length = SEARCHED_AT_ONCE; from < text.length; ) {
      if (isSliceFull()) yield
      const part = text.slice(from, from + length)
      const isLast = from + length >= text.length
      const { settled, places } = isLast
        ? { settled: part.length, places: this.places(part) }
        : this.#settled(part)
      for (const place of places) {
        if (place.to > settled) break
        found.push({ ...place, from: place.from + from, to: place.to + from })
      }
      from += settled
      length = settled === 0 ? 2 * length : SEARCHED_AT_ONCE
    }
    return found
  }

  finds(text: string): boolean {
    return this.places(text).length > 0
  }

  /** For a text that arrives in chunks. */
  stream(): RedactedStream {
    return new RedactedStream(this)
  }

  /** The parts of a text that hold a secret, in order and apart from each other. */
  places(text: string): readonly SecretPlace[] {
    if (text.length < SECRET_LENGTH_MIN || this.isEmpty) return []
    return this.#placesIn(viewsOf(text))
  }

  #placesIn(views: readonly View[]): readonly SecretPlace[] {
    const { patterns, secrets } = this.#compile()
    const found: SecretPlace[] = []
    const references = new Map<number, string>()
    for (const view of views) {
      for (const { from, to, pattern } of patterns.find(view.text)) {
        const reference = references.get(pattern) ?? this.#referenceOf(secrets[pattern] ?? '')
        references.set(pattern, reference)
        found.push({ from: view.at(from), to: view.at(to), reference })
      }
    }
    return found.length < 2 ? found : joined(found)
  }

  /** How much of a text can be given away while more of it may follow. */
  settledLength(text: string): number {
    return this.isEmpty ? text.length : this.#settled(text).settled
  }

  /** The settled length of a text, and all places in it: none is partly settled. */
  #settled(text: string): { readonly settled: number; readonly places: readonly SecretPlace[] } {
    const views = viewsOf(text)
    const places = this.#placesIn(views)
    let settled = this.#begunAt(text, views)
    for (;;) {
      // Another secret may begin inside of one, and an escape may end behind one.
      const around = places.find(({ from, to }) => from < settled && to > settled)
      const next = boundaryOf(views, around === undefined ? settled : around.from)
      if (next === settled) return { settled, places }
      settled = next
    }
  }

  /** Where a secret may have begun that what follows could complete; the end of the text: none. */
  #begunAt(text: string, views: readonly View[]): number {
    const { patterns } = this.#compile()
    let begun = text.length
    let end = text.length
    let seen = { from: 0, views }
    for (let level = 0; level <= SECRET_LEVELS_MAX; level += 1) {
      const { from } = seen
      for (const view of seen.views)
        begun = Math.min(begun, from + view.at(patterns.openAt(view.text)))
      const open = from + Math.min(...seen.views.map(openEscapeAt))
      if (open === end) break
      // What an escape means that is not complete is not known: what is before it may have begun.
      end = open
      begun = Math.min(begun, end)
      seen = viewsOfEnd(text.slice(0, end), views, patterns.lengthMax)
    }
    return begun
  }

  #json(value: Json, mark: string | undefined): Json {
    if (typeof value === 'string') return this.#replaced(value, mark)
    if (typeof value === 'number') return this.#number(value, mark)
    if (Array.isArray(value)) return value.map((inner: Json) => this.#json(inner, mark))
    if (!isJsonObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        this.#replaced(name, mark),
        this.#json(inner, mark)
      ])
    )
  }

  #replaced(text: string, mark: string | undefined): string {
    const places = this.places(text)
    return replaced(text, places, mark ?? markFor(text, places))
  }

  #number(value: number, mark: string | undefined): Json {
    const written = String(value)
    const places = this.places(written)
    if (places.length === 0) return value
    return mark === undefined ? replaced(written, places, mark) : null
  }

  #compile(): Compiled {
    const { version } = this
    if (this.#compiled?.version === version) return this.#compiled
    const secrets = new Map<string, string>()
    for (const [secret] of this.known()) {
      for (const form of formsOf(secret)) {
        if (!secrets.has(form)) secrets.set(form, secret)
      }
    }
    const patterns = new Patterns([...secrets.keys()])
    this.#compiled = { version, patterns, secrets: [...secrets.values()] }
    return this.#compiled
  }

  /**
   * What stands for a secret now: a secret that is read again under another reference changes no
   * pattern.
   */
  #referenceOf(secret: string): string {
    const own = this.#secrets.get(secret)
    if (own !== undefined) return own
    for (const [known, reference] of this.known()) if (known === secret) return reference
    return ''
  }

  /** Secrets with their references, for a redactor that includes this one. */
  *known(): Iterable<readonly [string, string]> {
    yield* this.#secrets
    for (const other of this.#included) yield* other.known()
  }

  /** Another number after each change: changes only grow, so their sum does with each of them. */
  get version(): number {
    let version = this.#changes + this.#included.size
    for (const other of this.#included) version += other.version
    return version
  }
}

/** Characters that are looked at in one piece, where they may be escapes. */
const SEARCHED_AT_ONCE = 64 * 1024

/** What can be rid of secrets, and comes out as the same. */
interface Cleaned {
  readonly text: string
  readonly json: Json
  /** Canonical JSON. */
  readonly canonical: string
}

interface Compiled {
  readonly version: number
  readonly patterns: Patterns
  /** Of each pattern, the secret whose form it is. */
  readonly secrets: readonly string[]
}

/** Places that overlap become one, named for the longest of them. */
function joined(found: readonly SecretPlace[]): readonly SecretPlace[] {
  const ordered = [...found].sort((left, right) => left.from - right.from || right.to - left.to)
  const places: SecretPlace[] = []
  let longest = 0
  for (const next of ordered) {
    const last = places.at(-1)
    if (last === undefined || next.from >= last.to) {
      places.push(next)
      longest = next.to - next.from
      continue
    }
    const isLonger = next.to - next.from > longest
    if (isLonger) longest = next.to - next.from
    const { reference } = isLonger ? next : last
    places[places.length - 1] = { from: last.from, to: Math.max(last.to, next.to), reference }
  }
  return places
}

/** What stands for secrets whose references would make a text too long; undefined: they do. */
function markFor(text: string, places: readonly SecretPlace[]): string | undefined {
  let { length } = text
  for (const { from, to, reference } of places) length += reference.length + 2 + from - to
  return length > VALUE_BYTES_MAX ? SHORT_MARK : undefined
}

function replaced(text: string, places: readonly SecretPlace[], mark: string | undefined): string {
  if (places.length === 0) return text
  const parts: string[] = []
  let from = 0
  for (const place of places) {
    parts.push(text.slice(from, place.from), mark ?? `[${place.reference}]`)
    from = place.to
  }
  parts.push(text.slice(from))
  return parts.join('')
}
