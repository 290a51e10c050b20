import type { DocumentDefinition } from '../../block/index.js'
import type { Json, Locate } from '../../core/index.js'
import type { CheckedAlone } from './check-alone.js'
import type { ParsedDocument } from './document-kind.js'
import { DocumentSlices } from './document-slices.js'

/**
 * Reads a parsed document by its kind, whatever its names lead to. Never throws for a bad one. The
 * kinds are loaded here: a reader of a ledger needs none of them.
 */
export async function parseDocument(
  document: Json,
  options: { readonly locate?: Locate } = {}
): Promise<ParsedDocument> {
  const { piecesByKind } = await import('./document-kinds.js')
  const { anyFlowKind } = await import('./flow-kind.js')
  const slices = new DocumentSlices(document)
  const parsed = await slices.takeEach(piecesByKind(document, { ...options, own: [anyFlowKind] }))
  return parsed.ok ? parsed.value : parsed
}

/**
 * What a parsed definition says by itself, and the names of it that only a configuration can tell
 * of.
 */
export async function checkAlone(definition: DocumentDefinition): Promise<CheckedAlone> {
  return (await import('./check-alone.js')).checkAlone(definition)
}

/** The same of a workflow of AIS with what it needs in one document, under no policy of a host. */
export async function parseWorkflow(bundle: Json): Promise<ParsedDocument> {
  const { WorkflowParts } = await import('../../workflow/index.js')
  const { loadExpressions } = await import('../../expression/index.js')
  const { workflowKind } = await import('./workflow-kind.js')
  const parts = new WorkflowParts()
  parts.use(await loadExpressions())
  const slices = new DocumentSlices(bundle)
  const parsed = await slices.takeEach(workflowKind(parts).pieces(bundle, {}))
  return parsed.ok ? parsed.value : parsed
}
