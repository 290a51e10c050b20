import { cliError, type Json, unreachable } from '../core/index.js'
import type { DryNode } from '../workflow/index.js'
import { showProblems } from './frame/document.js'
import { readJson } from './frame/files.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { lookLines, looksBefore } from './frame/preflight.js'
import { shortValue } from './frame/render.js'
import { type Text, text } from './frame/text.js'
import { bundleOf, checkAis, givenFor, type WorkflowOptions } from './frame/workflow.js'

export interface RunWorkflowOptions extends WorkflowOptions {
  readonly ctx?: string
  readonly broadcast?: boolean
  readonly simulate?: boolean
  readonly dryRun?: boolean
  readonly offline?: boolean
  readonly yes?: boolean
  /** `ask`, `stop` or `continue`, for nodes of which the workflow says nothing. */
  readonly onError?: string
}

/** A workflow ready to be started, or the exit code with which the command ends. */
export type PreparedWorkflow =
  | { readonly ok: true; readonly document: string; readonly inputs: Json }
  | { readonly ok: false; readonly exitCode: ExitCode }

/**
 * Gathers what a workflow needs into one document. With `--dry-run` shows what would be done
 * instead, without touching a ledger or a chain.
 */
export async function prepareWorkflow(
  frame: Frame,
  {
    file,
    document,
    inputs
  }: { readonly file: string; readonly document: string; readonly inputs: Json },
  options: RunWorkflowOptions
): Promise<PreparedWorkflow> {
  const { onError } = options
  if (onError !== undefined && !['ask', 'stop', 'continue'].includes(onError)) {
    throw cliError('cli.usage', { problem: '--on-error is ask, stop or continue' })
  }
  const ctx = options.ctx === undefined ? undefined : await readJson(frame, options.ctx, '--ctx')
  const given = await givenFor(inputs, ctx)
  const { read, checked, problems } = await checkAis(frame, file, document, options)
  // Protocols that no file brings may stand in the configuration of who runs it.
  const isKnownLater = (reason: string) => reason === 'unknown_protocol' && options.dryRun !== true
  const errors = problems.filter(({ reason }) => reason !== 'lint' && !isKnownLater(reason))
  if (errors.length > 0) {
    showProblems(frame, file, errors)
    frame.output.document('invalid', { file, problems: errors })
    return { ok: false, exitCode: exitCodes.usage }
  }
  if (options.dryRun === true && checked.plan !== undefined) {
    return { ok: false, exitCode: await showDryRun(frame, file, { given, checked, read }, options) }
  }
  return { ok: true, document: await bundleOf(read, options), inputs: given }
}

async function showDryRun(
  frame: Frame,
  file: string,
  {
    given,
    checked,
    read
  }: {
    readonly given: Json
    readonly checked: Awaited<ReturnType<typeof checkAis>>['checked']
    readonly read: Awaited<ReturnType<typeof checkAis>>['read']
  },
  options: RunWorkflowOptions
): Promise<ExitCode> {
  const { defaultPolicy, dryRun, givenOf, parseFlow, tightened, underFlow, valuesFor } =
    await import('../workflow/index.js')
  if (checked.plan === undefined) return exitCodes.usage
  const { plan } = checked.plan
  const values = await valuesFor(plan)
  const packed = read.packs.reduce(tightened, defaultPolicy)
  const parsed = parseFlow(read.flow)
  const policy = parsed.ok ? underFlow(packed, parsed.document) : packed
  const found = dryRun(plan, givenOf(given), { values, policy })
  const { output } = frame
  if (!found.ok) {
    output.document('dry-run', { file, ok: false, problems: found.problems })
    for (const { name, problem } of found.problems) {
      output.line(text`${output.paint('red', 'error')} input ${name}: ${problem}`)
    }
    return exitCodes.usage
  }
  const isGood = found.nodes.every(({ state }) => state !== 'failed')
  const preflight = await looksBefore(frame, plan, given, options)
  const { nodes, missing } = found
  output.document('dry-run', { file, ok: isGood, nodes, missing, preflight })
  for (const node of nodes) for (const line of dryLines(frame, node)) output.line(line)
  for (const look of preflight) for (const line of lookLines(frame, look)) output.line(line)
  return isGood ? exitCodes.done : exitCodes.usage
}

function dryLines({ output }: Frame, node: DryNode): readonly Text[] {
  const { paint } = output
  const head = text`${paint('bold', node.id)} ${node.state} on ${node.chain}`
  switch (node.state) {
    case 'ready': {
      const { kind = 'ok', hits = [] } = node.verdict ?? {}
      const policy = hits.map(({ message }) => text`  ${kind}: ${message}`)
      return [head, text`  ${shortValue(node.execution)}`, ...policy]
    }
    case 'skipped':
      return [head]
    case 'blocked':
      return [head, text`  needs ${(node.missing ?? []).join(', ')}`]
    case 'later':
      return [head, text`  after ${(node.missing ?? []).join(', ')}`]
    case 'failed':
      return [
        head,
        ...(node.errors ?? []).map(
          ({ place, message }) => text`  ${paint('red', 'error')} ${place}: ${message}`
        )
      ]
    default:
      return unreachable(node.state)
  }
}
