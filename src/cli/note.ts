import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { TallyError } from '../core/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { withSession } from './frame/session.js'
import { text } from './frame/text.js'

/** `tally note`: a signed note over everything committed so far, to be kept elsewhere (P5). */
export async function note(frame: Frame, options: { readonly output?: string }): Promise<ExitCode> {
  const { output } = frame
  return withSession(frame, 'sign', async ({ client }) => {
    const { note } = await client.request('note', {})
    const path = options.output
    if (path !== undefined) await writeNew(resolve(frame.cwd, path), note)
    output.document('note', { note, file: path ?? null })
    if (path === undefined) output.file(note)
    else output.log(text`wrote ${path}: keep it where the ledger cannot be reached`)
    return exitCodes.done
  })
}

/** An older note is worth as much as a newer one, so none is overwritten. */
async function writeNew(path: string, content: string): Promise<void> {
  try {
    const file = await open(path, 'wx')
    await file.writeFile(content)
    await file.close()
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw new TallyError('cli.usage', { problem: `the note cannot be written: ${problem}` })
  }
}
