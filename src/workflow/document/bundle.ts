import { z } from 'zod-pinned'
import {
  atOnce,
  type DocumentPath,
  isJsonObject,
  type Json,
  type Pieces,
  readingDocument
} from '../../core/index.js'
import { chainId } from './atoms.js'
import { onError } from './flow.js'
import type { Issue } from './issue.js'

/** `ais-bundle/1`: a workflow with everything it needs, as one document that can be run. */
export const bundleSchemaName = 'ais-bundle/1'

/** The parts are documents of their own; each is read by its own schema. */
export const bundleSchema = z.strictObject({
  schema: z.literal(bundleSchemaName),
  flow: z.json(),
  protocols: z.array(z.json()).max(1_024).default([]),
  packs: z.array(z.json()).max(16).default([]),
  default_chain: chainId.optional(),
  writes: z.enum(['ask', 'broadcast', 'simulate']).optional(),
  yes: z.boolean().optional(),
  on_error: onError.optional()
})

export type BundleDocument = z.output<typeof bundleSchema>

/** Whether a document is a bundle, or says that it is one. */
export function isBundle(document: Json): boolean {
  return isJsonObject(document) && document['schema'] === bundleSchemaName
}

/** From what does nothing to what asks the policy alone. */
const modesOfWrites = ['simulate', 'ask', 'broadcast'] as const

/**
 * What only the owner may say in a bundle: that writes are sent where the host asks, that questions
 * of the policy count as answered, and what a protocol is, since packs know protocols by their
 * names.
 */
export function ownersAloneIn(
  { writes = 'simulate', yes = false, protocols }: BundleDocument,
  ofHost: (typeof modesOfWrites)[number]
): readonly Issue[] {
  const isBeyond = modesOfWrites.indexOf(writes) > modesOfWrites.indexOf(ofHost)
  const said: readonly (readonly [path: DocumentPath, what: string])[] = [
    ...(isBeyond ? [[['writes'], `that writes are treated as ${writes}`] as const] : []),
    ...(yes ? [[['yes'], 'that what the policy asks is answered'] as const] : []),
    ...(protocols.length > 0 ? [[['protocols'], 'what a protocol is'] as const] : [])
  ]
  return said.map(([path, what]): Issue => {
    const message = `only the owner says ${what}`
    return { code: 'owners_alone', severity: 'error', path, message }
  })
}

/** A workflow and protocols for it as one document. Throws `document.malformed`. */
export function bundled(workflow: string | Json, protocols: readonly (string | Json)[]): Json {
  return atOnce(bundling(workflow, protocols))
}

/** {@link bundled} in pieces: other work may be done wherever it yields. */
export function* bundling(
  workflow: string | Json,
  protocols: readonly (string | Json)[]
): Pieces<Json> {
  const read: Json[] = []
  for (const source of [workflow, ...protocols]) {
    read.push(typeof source === 'string' ? (yield* readingDocument(source)).value : source)
  }
  const [flow = null, ...others] = read
  return { schema: bundleSchemaName, flow, protocols: others }
}
