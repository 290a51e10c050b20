import { runDemo } from './demo/story.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { text } from './frame/text.js'

/** `tally demo`: the main job with a kill in the middle, on a ledger of its own. */
export async function demo(frame: Frame, options: { readonly keep?: boolean }): Promise<ExitCode> {
  const { output } = frame
  const print = (line: string) => {
    output.document('demo', { line })
    for (const one of line.split('\n')) output.line(text`${one}`)
  }
  const wentAsTold = await runDemo({ keep: options.keep === true, print })
  return wentAsTold ? exitCodes.done : exitCodes.failed
}
