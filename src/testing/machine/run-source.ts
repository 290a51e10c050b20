import type { Workflow } from '../../code/index.js'
import { type Json, present, type RunId } from '../../core/index.js'
import type { RunHandle, WiredRuntime } from '../../runtime/index.js'

/** What the runs of a play begin with: a document's text, or a workflow in code by its name. */
export type RunSource =
  | { readonly document: string }
  | { readonly workflow: string; readonly version: string }

/** What a run is begun with. */
export interface BeginTerms {
  readonly id: RunId
  readonly input: Json
  readonly context: Readonly<Record<string, Json>>
}

/** Begins a run. After a redeploy that leaves its version out, with the one that is there. */
export function beginRun(
  runtime: WiredRuntime,
  source: RunSource,
  { id, input, context }: BeginTerms
): RunHandle {
  if ('document' in source) return runtime.begin(source.document, { id, inputs: input, context })
  return runtime.begin(registered(runtime, source), input, { id, context })
}

/** Each life has objects of its own: the name says which is meant. */
function registered(
  { registry: { code } }: WiredRuntime,
  { workflow: name, version }: Extract<RunSource, { readonly workflow: string }>
): Workflow<unknown, Json> {
  const found = code.exact('workflows', name, version) ?? code.resolve('workflows', name)
  // What a run gives is JSON; only types of schemas say more.
  return present(found, 'a version of the workflow').value as Workflow<unknown, Json>
}
