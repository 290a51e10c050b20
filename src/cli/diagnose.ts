import type { JournalEntry } from '../block/index.js'
import { isJsonObject, type Json, type JsonObject } from '../core/index.js'
import type { SentTransaction } from '../executor/index.js'
import type { TransactionCheck } from '../runtime/index.js'
import type { NodeDiagnostic, NodeTrouble } from '../workflow/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { shortValue, statusText } from './frame/render.js'
import { openSession } from './frame/session.js'
import { type Text, text } from './frame/text.js'

/**
 * `tally diagnose RUN`: what a run waits for and what has failed in it, node by node, with what may
 * be done about it (W10). With `--json`, one document for a program or a model. With `--on-chain`
 * the chains are asked whether what the run has as confirmed still stands.
 */
export async function diagnose(
  frame: Frame,
  runId: string,
  options: { readonly onChain?: boolean; readonly sendAgain?: boolean; readonly config?: string }
): Promise<ExitCode> {
  const { onChain = false, sendAgain = false, config } = options
  const session = await openSession(frame, onChain || sendAgain ? 'run' : 'read', { config })
  try {
    const { client } = session
    const { diagnosticsIn, troublesOf } = await import('../workflow/index.js')
    const { tellsOfTransactions, transactionsIn } = await import('../executor/index.js')
    const view = await client.request('show', { id: runId })
    const history: NodeDiagnostic[] = []
    let definition: Json = null
    const entries: JournalEntry[] = []
    for await (const { entry } of client.stream('journal', { id: runId })) {
      // The journal gives back what the pump has written.
      if (tellsOfTransactions(entry)) entries.push(entry as unknown as JournalEntry)
      if (isJsonObject(entry) && entry['k'] === 'run.started')
        definition = entry['definition'] ?? null
      history.push(...diagnosticsIn(entry))
    }
    const unconfirmed = transactionsIn(entries).unconfirmed
    const sent = new Map(unconfirmed.map(({ path, ...one }) => [path, shownTransaction(one)]))
    const open = troublesOf({ ...view, definition, sent })
    // A node that failed while others continued stands in the journal alone.
    const known = new Set(open.map(({ nodeId }) => nodeId))
    const past = history.filter(
      ({ nodeId }, index) =>
        !known.has(nodeId) && history.findLastIndex((one) => one.nodeId === nodeId) === index
    )
    const isAsked = onChain || sendAgain
    const checks = isAsked ? await client.request('recheck', { id: runId, sendAgain }) : []
    const { output } = frame
    const asked = isAsked ? { transactions: checks } : {}
    output.document('diagnosis', {
      run: runId,
      status: view.status,
      troubles: open,
      past,
      ...asked
    })
    output.line(text`${output.paint('bold', runId)} ${statusText(output.paint, view.status)}`)
    const isClear = checks.every(({ diagnostic }) => diagnostic === null)
    if (open.length === 0 && past.length === 0 && isClear) {
      output.line(text`  nothing stands in its way`)
    }
    for (const trouble of open) {
      for (const line of troubleLines(frame, runId, trouble)) output.line(line)
    }
    for (const diagnostic of past) {
      output.line(text`${output.paint('bold', diagnostic.nodeId)} has failed earlier`)
      for (const line of diagnosticLines(diagnostic)) output.line(line)
    }
    for (const check of checks)
      for (const line of checkLines(frame, runId, check)) output.line(line)
    return isClear ? exitCodes.done : exitCodes.failed
  } finally {
    await session.close()
  }
}

function checkLines({ output }: Frame, runId: string, check: TransactionCheck): readonly Text[] {
  const { path, hash, recorded, found, diagnostic, sentAgain } = check
  const node = output.paint('bold', path.split('/').at(-1) ?? path)
  const stands = found === null ? 'no endpoint could say' : found.status.replaceAll('_', ' ')
  const head = text`${node} ${stands}: ${hash}`
  if (diagnostic === null) return [head]
  const command = text`  tally diagnose ${runId} --send-again`
  return [
    head,
    ...(recorded === null
      ? []
      : [text`  was in block ${recorded.blockNumber} ${recorded.blockHash}`]),
    ...diagnosticLines(diagnostic),
    ...(sentAgain === null ? [] : [text`  sent again: ${sentAgain}`]),
    ...(found?.status === 'gone' && sentAgain === null ? [command] : [])
  ]
}

/** Without its bytes. */
function shownTransaction({ transaction, ...sent }: Omit<SentTransaction, 'path'>): JsonObject {
  return { ...sent, nonce: transaction?.nonce ?? null }
}

function troubleLines({ output }: Frame, runId: string, trouble: NodeTrouble): readonly Text[] {
  const { nodeId, kind, diagnostic, request } = trouble
  const head = text`${output.paint('bold', nodeId)} ${kind}`
  const lines = diagnostic === null ? [text`  ${shortValue(request)}`] : diagnosticLines(diagnostic)
  return [head, ...lines, ...commandsFor(runId, trouble)]
}

function diagnosticLines(diagnostic: NodeDiagnostic): readonly Text[] {
  const { code, message, phase, chain, executionType, attempt, elapsedMs } = diagnostic
  const { revert, rpc, values, lastOutputs, logs, programError, transaction } = diagnostic
  return [
    text`  ${code}: ${message}`,
    text`  while ${phase}, ${executionType} on ${chain}, attempt ${attempt}, ${elapsedMs} ms`,
    ...(values ?? []).map(({ place, message: one }) => text`  ${place}: ${one}`),
    ...(revert === undefined ? [] : [text`  revert ${shortValue(revert)}`]),
    ...(rpc === undefined ? [] : [text`  ${rpc.method} ${shortValue(rpc.response)}`]),
    ...(lastOutputs === undefined ? [] : [text`  last outputs ${shortValue(lastOutputs)}`]),
    ...(programError === undefined ? [] : [text`  program ${shortValue(programError)}`]),
    ...(logs ?? []).map((line) => text`  log ${line}`),
    ...(transaction === undefined ? [] : [text`  transaction ${shortValue(transaction)}`])
  ]
}

/** One line for each answer that the wait takes, and no others. */
function commandsFor(runId: string, trouble: NodeTrouble): readonly Text[] {
  const { kind, path, request, token, actions } = trouble
  const at = path.startsWith('root/') ? path.slice('root/'.length) : path
  const node = at.includes('/') ? path : at
  const paths = kind === 'missing' ? missingPaths(request) : []
  return actions.map((action) => {
    switch (action) {
      case 'patch':
        return text`  tally patch ${runId} ${node} inputs.NAME=JSON`
      case 'retry':
      case 'skip':
      case 'abort':
        return text`  tally ${action} ${runId} ${node}`
      case 'resume':
        return paths.length > 0
          ? text`  tally patch ${runId} ${node} ${paths.map((one) => `${one}=JSON`).join(' ')}`
          : text`  tally resume ${runId} ${token ?? ''} --value JSON`
      default:
        return text`  tally ${action} ${runId} ${token ?? ''}`
    }
  })
}

function missingPaths(request: NodeTrouble['request']): readonly string[] {
  const missing = (request as { readonly missing?: readonly { readonly path: string }[] }).missing
  return (missing ?? []).map(({ path }) => path)
}
