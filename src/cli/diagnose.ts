import type { JournalEntry } from '../block/index.js'
import {
  cliError,
  isJsonObject,
  isTallyError,
  type Json,
  type JsonObject,
  limits
} from '../core/index.js'
import type { SentTransaction } from '../executor/index.js'
import type { TransactionCheck } from '../runtime/index.js'
import type { NodeDiagnostic, NodeTrouble } from '../workflow/index.js'
import {
  type FailedAttempt,
  FailureTrail,
  failureLines,
  overLines,
  thrownIn,
  type Undecided,
  undecidedLines
} from './diagnose/failures.js'
import type { ServiceClient } from './frame/client.js'
import { commandText } from './frame/command-line.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { shortValue, statusText } from './frame/render.js'
import { configOf, openSession, type Session } from './frame/session.js'
import { type Text, text } from './frame/text.js'

/**
 * `tally diagnose RUN`: what a run waits for and what has failed in it, node by node, with what may
 * be done about it (W10). With `--json`, one document for a program or a model. Where endpoints are
 * configured, the chains say what became of what the run has sent; `--offline` asks none.
 */
export async function diagnose(
  frame: Frame,
  runId: string,
  options: {
    readonly onChain?: boolean
    readonly offline?: boolean
    readonly sendAgain?: boolean
    readonly config?: string
  }
): Promise<ExitCode> {
  const { onChain = false, offline = false, sendAgain = false, config } = options
  const isDemanded = onChain || sendAgain
  if (isDemanded && offline) {
    throw cliError('cli.usage', { problem: 'what is asked of chains is not asked offline' })
  }
  const session = await openSession(frame, isDemanded ? 'run' : 'read', { config })
  try {
    const { client } = session
    const { troublesOf } = await import('../workflow/index.js')
    const { transactionsIn } = await import('../executor/index.js')
    const view = await client.request('show', { id: runId })
    const { entries, definition, history, trail } = await journalOf(client, runId)
    const thrown = await thrownIn(client, runId)
    const { unconfirmed, confirmed } = transactionsIn(entries)
    const sent = new Map(unconfirmed.map(({ path, ...one }) => [path, shownTransaction(one)]))
    const open = troublesOf({ ...view, definition, sent })
    // A node that failed while others continued stands in the journal alone.
    const known = new Set(open.map(({ nodeId }) => nodeId))
    const past = history.filter(
      ({ nodeId }, index) =>
        !known.has(nodeId) && history.findLastIndex((one) => one.nodeId === nodeId) === index
    )
    const isWorthIt = !offline && unconfirmed.length + confirmed.length > 0
    const recheck = isDemanded
      ? await client.request('recheck', { id: runId, sendAgain })
      : isWorthIt
        ? await toldByChains(frame, session, { runId, entries, definition }, config)
        : undefined
    const checks = recheck ?? []
    const { output } = frame
    const asked = recheck === undefined ? {} : { transactions: recheck }
    const failed = failedBeside([...open, ...history], trail.failed(thrown))
    const [{ status }, { sent: writes }] = [view, trail]
    const failures = { failed, exceptions: thrown, sent: writes }
    const troubles = { troubles: open, past }
    output.document('diagnosis', { run: runId, status, ...troubles, ...failures, ...asked })
    output.line(text`${output.paint('bold', runId)} ${statusText(output.paint, status)}`)
    const isClear = checks.every(({ diagnostic }) => diagnostic === null)
    if (open.length + past.length + failed.length === 0 && isClear) {
      output.line(text`  nothing stands in its way`)
    }
    const around = { writes, thrown, waits: view.waits }
    for (const line of open.flatMap((one) => troubleLines(frame, runId, one, around))) {
      output.line(line)
    }
    for (const line of failed.flatMap((one) => failureLines(frame, one))) output.line(line)
    const run = { id: runId, status, failed }
    for (const line of overLines(frame, run, writes, thrown)) output.line(line)
    for (const line of past.flatMap((one) => earlierLines(frame, one))) output.line(line)
    for (const line of checks.flatMap((check) => checkLines(frame, runId, check))) output.line(line)
    // What is unknown, or could not be asked, is no fault of the run unless it was to be found out.
    const isLost = checks.some(
      ({ diagnostic, recorded, found }) =>
        diagnostic !== null && recorded !== null && found !== null
    )
    return (isDemanded ? isClear : !isLost) ? exitCodes.done : exitCodes.failed
  } finally {
    await session.close()
  }
}

/** What failed and tells nothing of itself, as nodes of workflows do. */
function failedBeside(
  told: readonly { readonly nodeId: string }[],
  failed: readonly FailedAttempt[]
): readonly FailedAttempt[] {
  const nodes = new Set(told.map(({ nodeId }) => nodeId))
  return failed.filter(({ path }) => !nodes.has(nodeOf(path)))
}

function nodeOf(path: string): string {
  return path.split('/').at(-1) ?? path
}

/** What a run's journal has of its definition, its transactions and its failures. */
async function journalOf(client: ServiceClient, runId: string) {
  const { diagnosticsIn } = await import('../workflow/index.js')
  const { tellsOfTransactions } = await import('../executor/index.js')
  const history: NodeDiagnostic[] = []
  const trail = new FailureTrail()
  const entries: JournalEntry[] = []
  let definition: Json = null
  for await (const { entry } of client.stream('journal', { id: runId })) {
    // The journal gives back what the pump has written.
    trail.take(entry as unknown as JournalEntry)
    if (tellsOfTransactions(entry)) entries.push(entry as unknown as JournalEntry)
    if (isJsonObject(entry) && entry['k'] === 'run.started')
      definition = entry['definition'] ?? null
    history.push(...diagnosticsIn(entry))
  }
  return { entries, definition, history, trail }
}

/**
 * What chains say of a run's transactions, as far as endpoints are configured and answer in time;
 * undefined where none are. It needs no key: nothing is signed or written.
 */
async function toldByChains(
  frame: Frame,
  { client, holder }: Session,
  run: {
    readonly runId: string
    readonly entries: readonly JournalEntry[]
    readonly definition: Json
  },
  given: string | undefined
): Promise<readonly TransactionCheck[] | undefined> {
  const withinMs = limits.DIAGNOSE_CHAIN_MS
  try {
    if (holder === 'owner') return await client.request('recheck', { id: run.runId, withinMs })
    const { providers = [] } = await configOf(frame, given)
    const { chainEffects } = await import('../executor/index.js')
    if (!providers.some(({ name }) => name === chainEffects.look)) return undefined
    const { askChainsWith } = await import('../runtime/index.js')
    return await askChainsWith(providers, run, { withinMs })
  } catch (error) {
    if (given !== undefined || !isTallyError(error)) throw error
    frame.output.log(text`no chain is asked: ${error.message}`)
    return undefined
  }
}

function checkLines(frame: Frame, runId: string, check: TransactionCheck): readonly Text[] {
  const { path, hash, recorded, found, diagnostic, sentAgain } = check
  const node = frame.output.paint('bold', path.split('/').at(-1) ?? path)
  const stands = found === null ? 'no endpoint could say' : found.status.replaceAll('_', ' ')
  const head = text`${node} ${stands}: ${hash}`
  if (diagnostic === null) return [head]
  const command = commandText(frame, ['diagnose', runId, '--send-again'])
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
function shownTransaction(sent: Omit<SentTransaction, 'path'>): JsonObject {
  const { transaction, expected: _, ...shown } = sent
  return { ...shown, nonce: transaction?.nonce ?? null }
}

function troubleLines(
  frame: Frame,
  runId: string,
  trouble: NodeTrouble,
  around: Undecided
): readonly Text[] {
  const { nodeId, kind, diagnostic, request } = trouble
  const head = text`${frame.output.paint('bold', nodeId)} ${kind}`
  const asked = request === null ? [] : [text`  ${shortValue(request)}`]
  const lines =
    diagnostic === null
      ? [...asked, ...undecidedLines(frame, trouble, around)]
      : diagnosticLines(diagnostic)
  return [head, ...lines, ...commandsFor(frame, runId, trouble)]
}

function earlierLines({ output }: Frame, diagnostic: NodeDiagnostic): readonly Text[] {
  const head = text`${output.paint('bold', diagnostic.nodeId)} has failed earlier`
  return [head, ...diagnosticLines(diagnostic)]
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
function commandsFor(frame: Frame, runId: string, trouble: NodeTrouble): readonly Text[] {
  const { kind, path, request, token, actions } = trouble
  const at = path.startsWith('root/') ? path.slice('root/'.length) : path
  const node = at.includes('/') ? path : at
  const paths = kind === 'missing' ? missingPaths(request) : []
  const asked = token === null ? [] : [token]
  const shown = (words: readonly string[]) => commandText(frame, words)
  return actions.flatMap((action) => {
    switch (action) {
      case 'patch':
        return (
          trouble.patches?.map((one) => shown(['patch', runId, node, changeOf(one)])) ?? [
            shown(['resume', runId, ...asked, '--action', 'patch', '--value', 'JSON'])
          ]
        )
      case 'retry':
      case 'skip':
      case 'abort':
        return shown([action, runId, node])
      case 'resume':
        return paths.length > 0
          ? shown(['patch', runId, node, ...paths.map((one) => `${one}=JSON`)])
          : shown(['resume', runId, ...asked, '--value', 'JSON'])
      default:
        return shown([action, runId, ...asked])
    }
  })
}

/** A change to fill in; of a replacement, what is enough for most nodes. */
function changeOf(path: string): string {
  if (path.startsWith('replace.')) return `${path}=25`
  return path.startsWith('transaction_hash.') ? `${path}=HASH` : `${path}=JSON`
}

function missingPaths(request: NodeTrouble['request']): readonly string[] {
  const missing = (request as { readonly missing?: readonly { readonly path: string }[] }).missing
  return (missing ?? []).map(({ path }) => path)
}
