import { cliError, rfc3339, systemClock } from '../core/index.js'
import { showProblems } from './frame/document.js'
import { readInput } from './frame/files.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { lookLines, looksBefore } from './frame/preflight.js'
import { checkAis, isAisText, type WorkflowOptions } from './frame/workflow.js'

const formats = ['text', 'mermaid', 'json', 'ais-plan'] as const

/**
 * `tally plan FILE`: what a workflow of AIS will do, node by node, without doing anything. The plan
 * and its hash depend on nothing but what the documents mean (W2).
 */
export async function plan(
  frame: Frame,
  file: string,
  options: WorkflowOptions & { readonly format: string }
): Promise<ExitCode> {
  const format = formats.find((one) => one === options.format)
  if (format === undefined) {
    throw cliError('cli.usage', { problem: `--format is one of ${formats.join(', ')}` })
  }
  const document = await readInput(frame, file)
  if (!(await isAisText(document))) {
    throw cliError('cli.usage', {
      problem: `${file} is no workflow of AIS; use "tally graph"`
    })
  }
  const { checked, problems } = await checkAis(frame, file, document, options)
  const errors = problems.filter(({ reason }) => reason !== 'lint')
  const planned = checked.plan
  if (errors.length > 0 || planned === undefined) {
    showProblems(frame, file, errors)
    frame.output.document('invalid', { file, problems: errors })
    return exitCodes.usage
  }
  const { drawPlanMermaid, drawPlanText, planText } = await import('../workflow/index.js')
  const { planHash } = planned
  // Without inputs: what they decide is looked at, too, and not listed here.
  const preflight = await looksBefore(frame, planned.plan, {}, { offline: true })
  frame.output.document('plan', { file, planHash, plan: planned.plan, preflight })
  if (format === 'ais-plan') {
    const { exportPlan } = await import('../workflow/index.js')
    const createdAt = rfc3339(systemClock.now())
    frame.output.file(`${JSON.stringify(exportPlan(planned, { createdAt }), null, 2)}\n`)
  } else if (format === 'text') {
    frame.output.file(`${drawPlanText(planned.plan)}  plan ${planHash}\n`)
    for (const look of preflight) for (const line of lookLines(frame, look)) frame.output.line(line)
  } else {
    frame.output.file(format === 'json' ? planText(planned.plan) : drawPlanMermaid(planned.plan))
  }
  return exitCodes.done
}
