import { timeText } from '../core/index.js'
import type { ReceiptView } from '../runtime/index.js'
import { countOf } from './frame/count.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { shortHash, shortValue, showUnchecked } from './frame/render.js'
import { withSession } from './frame/session.js'
import { joined, type Text, text } from './frame/text.js'

const LAST_DEFAULT = 50
const MILLISECONDS = 1_000

export interface LogOptions {
  readonly last?: string
  readonly from?: string
  readonly to?: string
  readonly all?: boolean
  readonly run?: string
}

/** `tally log`: the receipts in the order of their chain, the last ones unless told otherwise. */
export async function log(frame: Frame, options: LogOptions): Promise<ExitCode> {
  const { output } = frame
  const range = rangeOf(options)
  return withSession(frame, 'read', async ({ client }) => {
    const notChecked = new Set<string>()
    let shown = 0
    for await (const view of client.stream('receipts', range)) {
      const { run } = view.receipt.inputPayload
      if (options.run !== undefined && run?.runId !== options.run) continue
      output.document('receipt', view)
      output.line(receiptLine(frame, view))
      for (const one of view.notChecked) notChecked.add(one)
      shown += 1
      await output.ready()
    }
    showUnchecked(frame, { notChecked: [...notChecked] })
    if (shown === 0 && !output.isJson) output.log(text`no receipts`)
    return exitCodes.done
  })
}

function rangeOf({ last, from, to, all, run }: LogOptions) {
  const first = from === undefined ? {} : { from: countOf(from, '--from') }
  const end = to === undefined ? {} : { to: countOf(to, '--to') }
  const isWhole = all === true || run !== undefined || from !== undefined || to !== undefined
  const count = last === undefined ? LAST_DEFAULT : countOf(last, '--last')
  return { ...first, ...end, ...(isWhole && last === undefined ? {} : { last: count }) }
}

function receiptLine({ output }: Frame, view: ReceiptView): Text {
  const { index, receipt, result, problem } = view
  const { receiptHash, intent, inputPayload, timestamp } = receipt
  const { paint } = output
  const at = timeText(timestamp * MILLISECONDS)
  const run = inputPayload.run?.runId ?? ''
  const place = `${String(index).padStart(5)} ${shortHash(receiptHash)}`
  return joined([
    paint('cyan', place),
    at,
    paint('bold', intent),
    run,
    problem === undefined ? paint('dim', shortValue(result)) : paint('red', problem)
  ])
}
