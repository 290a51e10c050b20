import { isWorkflow, type Workflow } from '../../block/index.js'
import { type Json, type Random, type RunId, withoutUndefined } from '../../core/index.js'
import type { DocumentCompiler } from '../code/document-compiler.js'
import type { PreparedRun } from '../code/prepared-run.js'
import { ownerNamed } from './messages.js'
import type { StartTerms } from './run-terms.js'
import type { StartOptions } from './start-options.js'

/** What a run is started from: a document, as text or parsed, or a registered workflow in code. */
export type StartSource = string | Json | Workflow

/** What comes with it: options of a document, or the input of a workflow and options. */
export type GivenStart = readonly [first?: unknown, second?: StartOptions]

/** What the owner starts, prepared. Its problems are those of the promise. */
export function startOf(
  documents: DocumentCompiler,
  asked: {
    readonly source: StartSource
    readonly given: GivenStart
    readonly random: Random
  }
): [runId: RunId, prepared: Promise<PreparedRun>, terms: StartTerms] {
  const { source, given, random } = asked
  const { prepared, inputs, options } = preparing(documents, source, given)
  const { id = random.uuid(), context, trace, tags, subject, queue } = options
  // What is no JSON is refused where it is written.
  const plain = withoutUndefined(inputs) as Json
  const terms = { inputs: plain, principal: ownerNamed(), context, trace, tags }
  return [id as RunId, prepared, { ...terms, subject, queue }]
}

function preparing(
  documents: DocumentCompiler,
  source: StartSource,
  [first, second = {}]: GivenStart
): {
  readonly prepared: Promise<PreparedRun>
  readonly inputs: unknown
  readonly options: StartOptions
} {
  if (isWorkflow(source)) {
    const prepared = async () => documents.prepareWorkflow(source)
    return { prepared: prepared(), inputs: first ?? null, options: second }
  }
  const options = (first ?? {}) as StartOptions
  // Of a document null means none, as it always did: the same request must stay the same run.
  const inputs = options.inputs ?? {}
  return { prepared: documents.prepare(source, options), inputs, options }
}
