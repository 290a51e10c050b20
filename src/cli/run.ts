import { cliError, type Json, systemRandom } from '../core/index.js'
import { refuseInvalid } from './frame/document.js'
import { type DocumentFile, readDocumentFile } from './frame/document-file.js'
import { readContext, readJson } from './frame/files.js'
import { followRun } from './frame/follow.js'
import type { ExitCode, Frame } from './frame/frame.js'
import { openSession } from './frame/session.js'
import { takeOver } from './frame/take-over.js'
import { isAisText } from './frame/workflow.js'
import type { PreparedWorkflow, RunWorkflowOptions } from './run-workflow.js'

export interface RunOptions extends RunWorkflowOptions {
  readonly id?: string
  readonly inputs?: string
  /** Name of a registered workflow in code, or `name@version`. */
  readonly workflow?: string
  readonly context?: string
  readonly trace?: string
  readonly subject?: string
  readonly wait?: boolean
  readonly config?: string
}

/**
 * `tally run FILE`, or `tally run --workflow NAME`: starts a run, or shows the one that has this id
 * (L6).
 */
export async function run(
  frame: Frame,
  file: string | undefined,
  options: RunOptions
): Promise<ExitCode> {
  const given = await readJson(frame, options.inputs ?? '{}', '--inputs')
  const context = await readContext(frame, options.context)
  const asked = await askedFor(frame, { file, inputs: given }, options)
  if ('exitCode' in asked) return asked.exitCode
  const runId = options.id ?? systemRandom.uuid()
  const isPatient = options.wait === true
  const session = await openSession(frame, 'run', { config: options.config })
  const trace = options.trace === undefined ? {} : { trace: options.trace }
  const { subject } = options
  const about = subject === undefined ? {} : { subject }
  const params = { ...asked, id: runId, ...context, ...trace, ...about, follow: isPatient }
  const events = session.client.stream('run', params)
  const { config } = options
  return followRun(frame, session, {
    runId,
    isPatient,
    events,
    takeOver: () => takeOver(frame, { runId, isPatient, config, start: params })
  })
}

/** The document or the name of the workflow in code that is to run, with its inputs. */
async function askedFor(
  frame: Frame,
  { file, inputs }: { readonly file: string | undefined; readonly inputs: Json },
  options: RunOptions
) {
  const { workflow } = options
  if (workflow !== undefined && file === undefined) return { workflow, inputs }
  if (workflow !== undefined || file === undefined) {
    throw cliError('cli.usage', { problem: 'give either a file or --workflow' })
  }
  const read = await readDocumentFile(frame, file)
  const prepared = await prepareDocument(frame, { file, read, inputs }, options)
  if (!prepared.ok) return { exitCode: prepared.exitCode }
  return { document: prepared.document, inputs: prepared.inputs }
}

/** What is started, or how the command ends because it cannot be. */
export async function prepareDocument(
  frame: Frame,
  given: { readonly file: string; readonly read: DocumentFile; readonly inputs: Json },
  options: RunWorkflowOptions
): Promise<PreparedWorkflow> {
  const { file, read, inputs } = given
  const { document } = read
  if (await isAisText(document)) {
    const { prepareWorkflow } = await import('./run-workflow.js')
    return prepareWorkflow(frame, { file, document, inputs }, options)
  }
  const refused = await refuseInvalid(frame, file, read)
  return refused === undefined ? { ok: true, document, inputs } : { ok: false, exitCode: refused }
}
