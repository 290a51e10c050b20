import type { Pins } from '../../block/index.js'
import { stateOf } from '../../capability/index.js'
import {
  canonicalize,
  isJsonObject,
  type Json,
  type JsonObject,
  runtimeError,
  shownText
} from '../../core/index.js'
import { type IntentReply, PUBLISHED_PREFIX } from '../../intent/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { Prepared } from '../code/prepared-run.js'
import type { Registry } from '../code/registry.js'
import type { AskedIntent } from './asked-intent.js'
import { refusal } from './refusal.js'

/** A document that others than the owner may run, as lists show it. */
export interface PublishedDocument {
  readonly name: string
  readonly definitionHash: string
  /** Versions to which its names alone led when it was published. */
  readonly pins: Json
  readonly by: Json
  /** Integer seconds. */
  readonly at: Json
}

/**
 * `system.publish` as people ask for it: `{ document, name? }`. What is recorded is the document's
 * text, its definition hash and the versions that its names lead to now.
 */
export async function publish(
  registry: Registry,
  { id, intent: { action, payload }, go }: AskedIntent
): Promise<IntentReply> {
  const { document, name, ...others } = payload
  const [other] = Object.keys(others)
  if (document === undefined || other !== undefined) {
    const problem = other === undefined ? 'it needs a document' : `${other} is not known`
    return refusal(id, action, 'invalid_input', { problem })
  }
  const prepared = await registry.documents.prepare(document)
  if (!prepared.ok) {
    const problem = prepared.diagnostics[0]?.message ?? 'the document is not valid'
    return refusal(id, action, 'invalid_document', { problem })
  }
  const { definitionHash, pins } = prepared.root
  return go({
    name: name ?? prepared.root.name,
    document: typeof document === 'string' ? document : canonicalize(document),
    definitionHash,
    // Plain JSON by construction; its type only names the members.
    ...(pins === undefined ? {} : { pins: pins as unknown as JsonObject })
  })
}

/** All that are published, in the order of their names. */
export async function publishedDocuments(ledger: Ledger): Promise<readonly PublishedDocument[]> {
  const keys = await ledger.list(PUBLISHED_PREFIX)
  return keys.flatMap((key) => {
    const entry = entryAt(ledger, key)
    if (entry === undefined) return []
    const { definitionHash, pins = {}, by = null, at = null } = entry
    const name = key.slice(PUBLISHED_PREFIX.length)
    return [{ name, definitionHash: shownText(definitionHash), pins, by, at }]
  })
}

/**
 * A published document, compiled with the versions that it was published with. Throws
 * `runtime.not_published`, `runtime.published_missing`, `runtime.published_changed`.
 */
export async function preparePublished(
  { ledger, registry }: { readonly ledger: Ledger; readonly registry: Registry },
  name: string
): Promise<Prepared> {
  const entry = entryAt(ledger, `${PUBLISHED_PREFIX}${name}`)
  if (entry === undefined) throw runtimeError('runtime.not_published', { name })
  const { document, definitionHash } = entry
  // The kernel has checked them before it wrote them.
  const pins = entry['pins'] as unknown as Pins | undefined
  const gone = pins === undefined ? [] : registry.code.missing(pins)
  const prepared = await registry.documents.preparePinned(shownText(document), pins)
  const missing = [...new Set([...gone, ...(prepared.ok ? [] : (prepared.missing ?? []))])]
  if (missing.length > 0) {
    throw runtimeError('runtime.published_missing', { name, missing: missing.join(', ') })
  }
  if (prepared.ok && prepared.root.definitionHash === definitionHash) return prepared
  const difference = prepared.ok
    ? `definition ${prepared.root.definitionHash}, published was ${shownText(definitionHash)}`
    : (prepared.diagnostics[0]?.message ?? 'it does not compile')
  throw runtimeError('runtime.published_changed', { name, difference })
}

function entryAt(ledger: Pick<Ledger, 'read'>, key: string): JsonObject | undefined {
  const entry = stateOf(ledger).get(key)
  return isJsonObject(entry) ? entry : undefined
}
