import { systemRandom } from '../core/index.js'
import { refuseInvalid } from './frame/document.js'
import { readDocumentFile } from './frame/document-file.js'
import { readJson } from './frame/files.js'
import { followRun } from './frame/follow.js'
import type { ExitCode, Frame } from './frame/frame.js'
import { openSession } from './frame/session.js'
import { takeOver } from './frame/take-over.js'

export interface RunOptions {
  readonly id?: string
  readonly inputs?: string
  readonly wait?: boolean
  readonly config?: string
}

/** `tally run FILE`: starts a run, or shows the one that has this id (L6). */
export async function run(frame: Frame, file: string, options: RunOptions): Promise<ExitCode> {
  const read = await readDocumentFile(frame, file)
  const { document } = read
  const inputs = await readJson(frame, options.inputs ?? '{}', '--inputs')
  const refused = await refuseInvalid(frame, file, read)
  if (refused !== undefined) return refused
  const runId = options.id ?? systemRandom.uuid()
  const isPatient = options.wait === true
  const session = await openSession(frame, 'run', { config: options.config })
  const params = { document, id: runId, inputs, follow: isPatient }
  const events = session.client.stream('run', params)
  const { config } = options
  return followRun(frame, session, {
    runId,
    isPatient,
    events,
    takeOver: () => takeOver(frame, { runId, isPatient, config, start: params })
  })
}
