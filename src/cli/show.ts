import { checkWait, isTallyError, type JsonObject, timeText } from '../core/index.js'
import type { ChartAt, ReceiptView, RunView } from '../runtime/index.js'
import { exceptionLines, thrownIn } from './diagnose/failures.js'
import { chartLines } from './frame/chart.js'
import { completed } from './frame/command-line.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { receiptNamed } from './frame/receipt-name.js'
import { shortHash, shortValue, showUnchecked, statusText, waitLines } from './frame/render.js'
import { type Session, withSession } from './frame/session.js'
import { text } from './frame/text.js'

const QUARANTINED = 'see "tally doctor"; release or cancel it'
const MILLISECONDS = 1_000

/** `tally show WHAT`: a run by its id, or a receipt by its hash or its place in the chain. */
export async function show(
  frame: Frame,
  what: string,
  options: { readonly journal?: boolean; readonly chart?: boolean }
): Promise<ExitCode> {
  return withSession(frame, 'read', async ({ client }) => {
    const view = await runOrNothing(client, what)
    if (view === undefined) {
      const which = receiptNamed(what)
      const asked = typeof which === 'string' ? { hash: which } : { index: which ?? 0 }
      showReceipt(frame, await client.request('receipt', asked))
      return exitCodes.done
    }
    showRun(frame, view)
    if (options.chart === true) await showChart(frame, client, view.id)
    if (options.journal === true) await showJournal(frame, client, view.id)
    return exitCodes.done
  })
}

/** Undefined when there is no such run and the name may be a receipt's. */
async function runOrNothing(client: Session['client'], what: string): Promise<RunView | undefined> {
  if (what.startsWith('#')) return undefined
  try {
    return await client.request('show', { id: what })
  } catch (error) {
    if (isTallyError(error, 'run.not_found') && receiptNamed(what) !== undefined) return undefined
    throw error
  }
}

function showRun(frame: Frame, view: RunView): void {
  const { output } = frame
  const { paint } = output
  const { id, name, status, startedAt, updatedAt, definitionHash, input, response } = view
  for (const wait of view.waits) checkWait(id, wait)
  output.document('run', view)
  output.line(text`${paint('bold', id)} ${statusText(paint, status)}`)
  if (view.quarantined) {
    output.line(text`${paint('red', 'quarantined')} ${completed(frame.commands, QUARANTINED)}`)
  }
  output.line(text`document   ${name} ${definitionHash}`)
  output.line(text`started    ${timeText(startedAt)}`)
  output.line(text`changed    ${timeText(updatedAt)}, ${view.entries} journal entries`)
  if (view.tags !== undefined) output.line(text`tags       ${view.tags.join(', ')}`)
  output.line(text`input      ${shortValue(input)}`)
  if (response !== null) {
    output.line(text`result     ${response.reason ?? ''} ${shortValue(response.data)}`)
  }
  if (view.receiptHash !== null) output.line(text`receipt    ${view.receiptHash}`)
  if (view.due !== null) output.line(text`resumes    ${timeText(view.due)}`)
  for (const line of waitLines(frame, id, view.waits)) output.line(line)
  showUnchecked(frame, view)
}

/** The run's document, with where each of its nodes stands. */
async function showChart(frame: Frame, client: Session['client'], id: string): Promise<void> {
  const { output } = frame
  const chart = await client.request('chart', { id })
  const { at, problem } = await standing(client, id)
  output.document('chart', { ...chart, at: at ?? null })
  output.line(text``)
  for (const line of chartLines(output.paint, chart.graph, at)) output.line(line)
  if (problem === undefined) return
  output.line(text`${output.paint('yellow', 'not shown')} where its nodes stand: ${problem}`)
}

/** Where a run stands, or why that cannot be told without its code. */
async function standing(
  client: Session['client'],
  id: string
): Promise<{ readonly at?: ChartAt; readonly problem?: string }> {
  try {
    return { at: await client.request('chartAt', { id }) }
  } catch (error) {
    const isLacking = codes.some((code) => isTallyError(error, code))
    if (isLacking) return { problem: error instanceof Error ? error.message : String(error) }
    throw error
  }
}

const codes = ['run.code_missing', 'run.definition_changed'] as const

async function showJournal(frame: Frame, client: Session['client'], id: string): Promise<void> {
  const { output } = frame
  const thrown = await thrownIn(client, id)
  for await (const line of client.stream('journal', { id })) {
    output.document('journal-entry', line)
    const { n, k, ...rest } = line.entry as JsonObject & { readonly n: number; readonly k: string }
    output.line(text`${String(n).padStart(5)} ${output.paint('bold', k)} ${shortValue(rest)}`)
    for (const { exception } of k === 'settled' ? thrown.filter((one) => isAt(one, rest)) : []) {
      for (const shown of exceptionLines(exception)) output.line(text`      ${shown}`)
    }
    await output.ready()
  }
}

type Place = { readonly path: string; readonly step: number; readonly attempt: number }

function isAt({ path, step, attempt }: Place, entry: JsonObject): boolean {
  return entry['path'] === path && entry['step'] === step && entry['attempt'] === attempt
}

function showReceipt(frame: Frame, view: ReceiptView): void {
  const { output } = frame
  const { receipt, index, writeSet, payload, result, withheld } = view
  const { inputPayload } = receipt
  output.document('receipt', view)
  output.line(text`${output.paint('bold', `receipt ${index}`)} ${receipt.receiptHash}`)
  output.line(text`previous   ${receipt.previousReceiptHash ?? 'none'}`)
  output.line(text`signed by  ${receipt.publicKey}`)
  output.line(text`at         ${timeText(receipt.timestamp * MILLISECONDS)}`)
  output.line(text`action     ${receipt.intent} (${receipt.dappId})`)
  if (inputPayload.run !== undefined) {
    const { runId, path, step, attempt } = inputPayload.run
    output.line(text`run        ${runId} ${path}, step ${step}, attempt ${attempt}`)
  }
  output.line(text`payload    ${shortValue(payload)}`)
  output.line(text`result     ${shortValue(result)}`)
  for (const body of withheld) output.line(text`withheld   ${body}`)
  output.line(text`state      ${shortHash(receipt.previousStateRoot)} -> ${receipt.nextStateRoot}`)
  for (const { key, before, after } of writeSet) {
    const from = before === undefined ? 'absent' : shortValue(before)
    const to = after === undefined ? 'absent' : shortValue(after)
    output.line(text`  ${key}: ${from} -> ${to}`)
  }
  for (const { effect, responseHash } of inputPayload.sealed) {
    output.line(text`sealed     ${effect} ${shortHash(responseHash)}`)
  }
  showUnchecked(frame, view)
}
