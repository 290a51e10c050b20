import { isJsonObject, type Json, type JsonObject, limits } from '../../core/index.js'
import type { InspectionMessage } from './message.js'

/**
 * What of a message is shown: without payloads by default, and never so much that a receiver
 * chokes on it.
 */

/** Members of events that hold what callers, blocks and providers gave. */
const payloadMembers: ReadonlySet<string> = new Set([
  'context',
  'data',
  'details',
  'input',
  'metadata',
  'patch',
  'payload',
  'request'
])

/** An event with every payload in it replaced by its size. */
export function withoutPayloads(event: JsonObject): JsonObject {
  const shown = Object.entries(event).map(([name, value]) => {
    if (payloadMembers.has(name)) return [name, redacted(value)]
    return [name, isJsonObject(value) ? withoutPayloads(value) : value]
  })
  return Object.fromEntries(shown) as JsonObject
}

/** Stands in the place of a value: UTF-8 bytes of its JSON. */
export function redacted(value: Json): JsonObject {
  return { $redacted: bytesOf(value) }
}

/** A message of at most the length that receivers take: its largest members are cut first. */
export function fitting(message: InspectionMessage): InspectionMessage {
  if (bytesOf(asJson(message)) <= limits.INSPECTION_MESSAGE_BYTES_MAX) return message
  for (const memberBytesMax of [CUT_FIRST_BYTES, CUT_NEXT_BYTES, 0]) {
    const cut = cutMembers(message, memberBytesMax)
    if (bytesOf(asJson(cut)) <= limits.INSPECTION_MESSAGE_BYTES_MAX) return cut
  }
  return cutMembers(message, 0)
}

const CUT_FIRST_BYTES = 32 * 1024
const CUT_NEXT_BYTES = 1024

/** The definition is never cut: without it nothing can be drawn. */
function cutMembers(message: InspectionMessage, bytesMax: number): InspectionMessage {
  const event = 'event' in message ? { event: cutIn(message.event, bytesMax) } : {}
  const snapshot = 'snapshot' in message ? { snapshot: cutIn(message.snapshot, bytesMax) } : {}
  return { ...message, ...event, ...snapshot } as InspectionMessage
}

function cutIn(value: JsonObject, bytesMax: number): JsonObject {
  const cut = Object.entries(value).map(([name, member]) => {
    if (!isJsonObject(member) && !Array.isArray(member)) return [name, cutText(member, bytesMax)]
    if (bytesOf(member) <= Math.max(bytesMax, CUT_LEAST_BYTES)) return [name, member]
    return [name, bytesMax > 0 && isJsonObject(member) ? cutIn(member, bytesMax) : cutMark(member)]
  })
  return Object.fromEntries(cut) as JsonObject
}

const CUT_LEAST_BYTES = 64

function cutText(value: Json, bytesMax: number): Json {
  const isLong = typeof value === 'string' && value.length > Math.max(bytesMax, CUT_LEAST_BYTES)
  return isLong ? cutMark(value) : value
}

function cutMark(value: Json): JsonObject {
  return { $cut: bytesOf(value) }
}

function bytesOf(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value))
}

// Messages are plain JSON; their types only lack the index signature.
function asJson(message: InspectionMessage): Json {
  return message as unknown as Json
}
