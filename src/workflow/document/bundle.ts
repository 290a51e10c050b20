import { z } from 'zod'
import { atOnce, isJsonObject, type Json, type Pieces, readingDocument } from '../../core/index.js'
import { chainId } from './atoms.js'
import { onError } from './flow.js'

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
