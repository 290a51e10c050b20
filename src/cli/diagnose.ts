import { isJsonObject, type Json } from '../core/index.js'
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
    const view = await client.request('show', { id: runId })
    const history: NodeDiagnostic[] = []
    let definition: Json = null
    for await (const { entry } of client.stream('journal', { id: runId })) {
      if (isJsonObject(entry) && entry['k'] === 'run.started')
        definition = entry['definition'] ?? null
      history.push(...diagnosticsIn(entry))
    }
    const open = troublesOf({ ...view, definition })
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
  const { blockNumber, blockHash } = recorded
  const node = output.paint('bold', path.split('/').at(-1) ?? path)
  const stands = found === null ? 'no endpoint could say' : found.status.replaceAll('_', ' ')
  const head = text`${node} ${stands}: ${hash}`
  if (diagnostic === null) return [head]
  const command = text`  tally diagnose ${runId} --send-again`
  return [
    head,
    text`  was in block ${blockNumber} ${blockHash}`,
    ...diagnosticLines(diagnostic),
    ...(sentAgain === null ? [] : [text`  sent again: ${sentAgain}`]),
    ...(found?.status === 'gone' && sentAgain === null ? [command] : [])
  ]
}

function troubleLines({ output }: Frame, runId: string, trouble: NodeTrouble): readonly Text[] {
  const { nodeId, kind, diagnostic, request } = trouble
  const head = text`${output.paint('bold', nodeId)} ${kind}`
  const lines = diagnostic === null ? [text`  ${shortValue(request)}`] : diagnosticLines(diagnostic)
  return [head, ...lines, ...commandsFor(runId, trouble)]
}

function diagnosticLines(diagnostic: NodeDiagnostic): readonly Text[] {
  const { code, message, phase, chain, executionType, attempt, elapsedMs, actions } = diagnostic
  const { revert, rpc, values, lastOutputs } = diagnostic
  return [
    text`  ${code}: ${message}`,
    text`  while ${phase}, ${executionType} on ${chain}, attempt ${attempt}, ${elapsedMs} ms`,
    ...(values ?? []).map(({ place, message: one }) => text`  ${place}: ${one}`),
    ...(revert === undefined ? [] : [text`  revert ${shortValue(revert)}`]),
    ...(rpc === undefined ? [] : [text`  ${rpc.method} ${shortValue(rpc.response)}`]),
    ...(lastOutputs === undefined ? [] : [text`  last outputs ${shortValue(lastOutputs)}`]),
    text`  allowed: ${actions.join(', ')}`
  ]
}

function commandsFor(runId: string, { kind, nodeId, request }: NodeTrouble): readonly Text[] {
  switch (kind) {
    case 'decision':
      return [
        text`  tally retry ${runId} ${nodeId}`,
        text`  tally patch ${runId} ${nodeId} inputs.NAME=JSON`,
        text`  tally skip ${runId} ${nodeId}`,
        text`  tally abort ${runId} ${nodeId}`
      ]
    case 'missing': {
      const paths = missingPaths(request)
      return [text`  tally patch ${runId} ${nodeId} ${paths.map((one) => `${one}=JSON`).join(' ')}`]
    }
    case 'confirm':
      return [text`  tally approve ${runId}`, text`  tally deny ${runId}`]
    case 'waiting':
    case 'failed':
      return []
  }
}

function missingPaths(request: NodeTrouble['request']): readonly string[] {
  const missing = (request as { readonly missing?: readonly { readonly path: string }[] }).missing
  return (missing ?? []).map(({ path }) => path)
}
