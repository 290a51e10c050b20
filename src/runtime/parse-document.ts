import type { Json } from '../core/index.js'
import type { LocatePath, ParsedDocument } from './document-kind.js'

/**
 * Reads a parsed document by its kind, whatever its names lead to. Never throws for a bad one. The
 * kinds are loaded here: a reader of a ledger needs none of them.
 */
export async function parseDocument(
  document: Json,
  options: { readonly locate?: LocatePath } = {}
): Promise<ParsedDocument> {
  const { parseByKind } = await import('./document-kinds.js')
  const { anyFlowKind } = await import('./flow-kind.js')
  return parseByKind(document, { ...options, own: [anyFlowKind] })
}
