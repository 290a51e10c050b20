import { isBlock, isWorkflow, type Workflow } from '../../code/index.js'
import {
  type Json,
  type Random,
  type RunId,
  runtimeError,
  withoutUndefined
} from '../../core/index.js'
import type { DocumentCompiler } from '../code/document-compiler.js'
import type { PreparedRun } from '../code/prepared-run.js'
import { ownerNamed } from './messages.js'
import type { StartTerms } from './run-terms.js'
import type { StartOptions, WorkflowStartOptions } from './start-options.js'

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
    checkOptions(second, workflowOptions)
    const prepared = async () => documents.prepareWorkflow(source)
    return { prepared: prepared(), inputs: first ?? null, options: second }
  }
  if (isBlock(source)) {
    const instead = 'name it in a node, or in a step of code'
    const problem = `the block ${source.name} is no document: ${instead}`
    throw runtimeError('run.invalid_options', { problem })
  }
  const options = (first ?? {}) as StartOptions
  checkOptions(options, documentOptions)
  // Of a document null means none, as it always did: the same request must stay the same run.
  const inputs = options.inputs ?? {}
  return { prepared: documents.prepare(source, options), inputs, options }
}

const workflowOptions: Readonly<Record<keyof WorkflowStartOptions, true>> = {
  id: true,
  context: true,
  trace: true,
  tags: true,
  subject: true,
  queue: true
}
const documentOptions: Readonly<Record<keyof StartOptions, true>> = {
  ...workflowOptions,
  inputs: true,
  protocols: true
}

/** Throws `run.invalid_options`: inputs that are given as options would be lost without a word. */
function checkOptions(options: unknown, known: Readonly<Record<string, true>>): void {
  const isObject = typeof options === 'object' && options !== null && !Array.isArray(options)
  const unknown = isObject && Object.keys(options).find((key) => !Object.hasOwn(known, key))
  if (isObject && unknown === undefined) return
  const problem = isObject
    ? `its options have ${unknown}, which is none`
    : 'its options are no object'
  throw runtimeError('run.invalid_options', { problem })
}
