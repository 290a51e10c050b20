import { canonicalize, systemRandom } from '../core/index.js'
import type { IntentPlan } from '../intent/index.js'
import type { PlannedText } from '../runtime/index.js'
import { confirm } from './frame/confirm.js'
import { followRun } from './frame/follow.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { askIntent } from './frame/intent.js'
import { shortValue } from './frame/render.js'
import { openSession, type Session } from './frame/session.js'
import { takeOver } from './frame/take-over.js'
import { text } from './frame/text.js'

export interface AskOptions {
  readonly yes?: boolean
  readonly provider?: string
  readonly id?: string
  readonly config?: string
}

/**
 * `tally ask TEXT`: says what the text means and how that would be done, and does it once a person
 * at the terminal agrees, or with `--yes` (semantics.md K11). Without either nothing is done. What
 * it may do is decided as for any intent: a text grants nothing.
 */
export async function ask(frame: Frame, words: string, options: AskOptions): Promise<ExitCode> {
  const { output } = frame
  const { config, provider } = options
  const session = await openSession(frame, 'run', { config })
  try {
    const planned = await session.client.request('resolve', {
      text: words,
      ...(provider === undefined ? {} : { provider })
    })
    output.document('plan', planned)
    const { resolution, plan } = planned
    if (resolution.kind === 'refused' || plan === null) {
      const instead = resolution.kind === 'refused' ? resolution.instead : ''
      output.line(text`${output.paint('red', 'refused')} text cannot do this: use ${instead}`)
      await session.close()
      return exitCodes.usage
    }
    showPlan(frame, resolution, plan)
    const isAgreed = options.yes === true || (await confirm('Do it?'))
    if (isAgreed !== true) {
      output.log(text`nothing was done; --yes does it without asking`)
      await session.close()
      // The person at the terminal has refused, or there is no terminal to ask at.
      return isAgreed === false ? exitCodes.failed : exitCodes.waiting
    }
    return await carryOut(frame, session, { planned, options })
  } catch (error) {
    await session.close()
    throw error
  }
}

function showPlan(
  frame: Frame,
  resolution: Extract<PlannedText['resolution'], { kind: 'intent' }>,
  { intent, steps }: IntentPlan
): void {
  const { output } = frame
  const by = { kernel: 'understood', provider: 'understood by AI', chat: 'not understood' } as const
  output.line(text`${output.paint('bold', intent.action)} ${shortValue(intent.payload)}`)
  output.line(text`  ${by[resolution.by]}`)
  for (const { id, canonical, args, dependsOn } of steps) {
    const after = dependsOn.length === 0 ? '' : ` after ${dependsOn.join(', ')}`
    output.line(text`  ${output.paint('cyan', id)} ${canonical} ${shortValue(args)}${after}`)
  }
}

/** One step runs as an intent, more as a graph. Closes the session. */
async function carryOut(
  frame: Frame,
  session: Session,
  { planned, options }: { readonly planned: PlannedText; readonly options: AskOptions }
): Promise<ExitCode> {
  const { plan, document } = planned
  const runId = options.id ?? systemRandom.uuid()
  if (document === null && plan !== null) {
    return askIntent(frame, session, { ...plan.intent, id: runId })
  }
  const params = { document: canonicalize(document), id: runId, inputs: {}, follow: false }
  const events = session.client.stream('run', params)
  const { config } = options
  return followRun(frame, session, {
    runId,
    isPatient: false,
    events,
    takeOver: () => takeOver(frame, { runId, isPatient: false, config, start: params })
  })
}
