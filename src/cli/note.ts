import { writeOutput } from './frame/files.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { withSession } from './frame/session.js'
import { text } from './frame/text.js'

/** `tally note`: a signed note over everything committed so far, to be kept elsewhere (P5). */
export async function note(frame: Frame, options: { readonly output?: string }): Promise<ExitCode> {
  const { output } = frame
  return withSession(frame, 'sign', async ({ client }) => {
    const { note } = await client.request('note', {})
    const path = options.output
    // An older note is worth as much as a newer one, so none is overwritten.
    if (path !== undefined) await writeOutput(frame, path, { content: note, isNew: true })
    output.document('note', { note, file: path ?? null })
    if (path === undefined) output.file(note)
    else output.log(text`wrote ${path}: keep it where the ledger cannot be reached`)
    return exitCodes.done
  })
}
