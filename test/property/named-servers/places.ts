import { isJsonObject, type Json, type JsonObject } from '../../../src/core/index.js'
import { isLong } from '../../support/effort.js'

/** Where a JSON Schema lets a document have a text of its own, and documents with one there. */

export type Place = readonly (string | number)[]

/** No schema of documents is deeper, but for values inside of values. */
const DEPTH_MAX = 14
/** How often a definition that names itself is followed. */
const REPEATS_MAX = isLong ? 1 : 0

/** Every place of a text, a key of a record, or a value of any kind; each once. */
export function placesOf(schema: JsonObject): readonly Place[] {
  const found = new Map<string, Place>()
  const definitions = isJsonObject(schema['$defs'] ?? null) ? (schema['$defs'] as JsonObject) : {}
  const visit = (part: Json | undefined, place: Place, followed: readonly string[]): void => {
    if (!isJsonObject(part ?? null) || place.length > DEPTH_MAX) return
    const here = part as JsonObject
    const reference = here['$ref']
    if (typeof reference === 'string') {
      const name = reference.replace('#/$defs/', '')
      if (followed.filter((one) => one === name).length > REPEATS_MAX) return
      return visit(definitions[name], place, [...followed, name])
    }
    for (const union of ['anyOf', 'oneOf', 'allOf']) {
      for (const one of listOf(here[union])) visit(one, place, followed)
    }
    const { properties, additionalProperties, items, type } = here
    for (const [name, one] of Object.entries((properties ?? {}) as JsonObject)) {
      visit(one, [...place, name], followed)
    }
    if (isJsonObject(additionalProperties ?? null)) {
      visit(additionalProperties, [...place, ANY_KEY], followed)
    }
    if (items !== undefined) visit(items, [...place, 0], followed)
    const isText = type === 'string' || listOf(type).includes('string')
    const isAny = Object.keys(here).every((name) => name === 'description')
    if (isText || isAny) found.set(place.join('/'), place)
  }
  visit(schema, [], [])
  return [...found.values()]
}

/** Stands for a key of a record: the first that the document has there, or one of its own. */
export const ANY_KEY = '*'

/** The document with this text at a place; what lies on the way there is made. */
export function withText(document: Json, place: Place, text: string): Json {
  const [next, ...rest] = place
  if (next === undefined) return text
  if (typeof next === 'number') {
    const [first, ...others] = listOf(document)
    return [withText(first ?? {}, rest, text), ...others]
  }
  const members = isJsonObject(document) ? document : {}
  const key = next === ANY_KEY ? (Object.keys(members)[0] ?? 'own') : next
  return { ...members, [key]: withText(members[key] ?? {}, rest, text) }
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}
