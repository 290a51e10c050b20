import { cliError } from '../core/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { receiptNamed } from './frame/receipt-name.js'
import { showReport } from './frame/report.js'
import { text } from './frame/text.js'
import { replayThere, verifyThere } from './frame/verification.js'

/**
 * `tally replay [RECEIPT]`: executes one receipt again, or all of them, twice, and compares the
 * executions with each other and with what was recorded (P2).
 */
export async function replay(
  frame: Frame,
  receipt: string | undefined,
  options: { readonly config?: string }
): Promise<ExitCode> {
  const { output } = frame
  const { config } = options
  if (receipt === undefined) {
    const report = await verifyThere(frame, { notes: [], executions: 2, config })
    showReport(frame, report)
    return report.ok ? exitCodes.done : exitCodes.unverified
  }
  const found = await replayThere(frame, { which: whichOf(receipt), config })
  const { ok, index, receiptHash, failure, notChecked } = found
  output.document('replay', found)
  const mark = ok ? output.paint('green', 'same') : output.paint('red', 'NOT THE SAME')
  output.line(text`${mark} receipt ${index} ${receiptHash}`)
  if (failure !== undefined) {
    output.line(text`at receipt ${failure.index}: ${failure.field} ${failure.key ?? ''}`)
    output.line(text`  signed   ${failure.signed}`)
    output.line(text`  computed ${failure.computed}`)
  }
  for (const one of notChecked) {
    output.line(text`${output.paint('yellow', 'not checked')} ${one}`)
  }
  return ok ? exitCodes.done : exitCodes.unverified
}

function whichOf(receipt: string) {
  const which = receiptNamed(receipt)
  if (which !== undefined) return which
  const problem = `${receipt} is neither the hash of a receipt nor its place in the chain`
  throw cliError('cli.usage', { problem })
}
