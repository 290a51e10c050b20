import { cliError, type Json, parse } from '../core/index.js'
import type { AnswerAction } from '../runtime/index.js'
import { type AnswerOptions, answer } from './frame/answer.js'
import type { ExitCode, Frame } from './frame/frame.js'
import { nodeName, type Wait } from './frame/render.js'
import { openSession } from './frame/session.js'

type Decision = Extract<AnswerAction, 'retry' | 'skip' | 'abort'>

/** `tally retry RUN NODE`, `tally skip RUN NODE`, `tally abort RUN NODE` (W10). */
export function decide(action: Decision) {
  return async (
    frame: Frame,
    runId: string,
    node: string | undefined,
    options: AnswerOptions
  ): Promise<ExitCode> => {
    const session = await openSession(frame, 'run', { config: options.config })
    const isMeant = (wait: Wait) => isOf(node, wait) && wait.actions.includes(action)
    return answer(frame, session, { ...options, runId, token: undefined, action, isMeant })
  }
}

/**
 * `tally patch RUN NODE PATH=JSON...`: gives a node what it lacks, or changes what it was given
 * after a failure, and lets it try again. Only inputs, ctx, contracts and policy can be changed.
 * `replace.HASH=PERCENT` sends a transaction in the place of one that is stuck, which pays more;
 * `transaction_hash.HASH=HASH` looks for another than the one that a wallet outside has named.
 */
export async function patch(
  frame: Frame,
  runId: string,
  node: string,
  changes: readonly string[],
  options: AnswerOptions
): Promise<ExitCode> {
  const patches = changes.map(patchOf)
  const value = aboutTransaction(patches) ?? { patches: patches as unknown as Json }
  const session = await openSession(frame, 'run', { config: options.config })
  const { waits } = await session.client.request('show', { id: runId })
  const isDecision = waits.some((wait) => isOf(node, wait) && wait.actions.includes('patch'))
  const action: AnswerAction = isDecision ? 'patch' : 'resume'
  const isMeant = (wait: Wait) => isOf(node, wait) && wait.actions.includes(action)
  return answer(frame, session, { ...options, runId, token: undefined, action, value, isMeant })
}

function isOf(node: string | undefined, { path }: Wait): boolean {
  return node === undefined || nodeName(path) === node || path === node
}

/** What stands after these and a dot is the hash of a transaction. */
const aboutTransactions = ['replace', 'transaction_hash'] as const

/** What is decided about a transaction that was sent; undefined: the changes are none of this. */
function aboutTransaction([change, ...others]: readonly Change[]): Json | undefined {
  const name = aboutTransactions.find((one) => change?.path.startsWith(`${one}.`))
  if (change === undefined || name === undefined) return undefined
  if (others.length > 0) {
    throw cliError('cli.usage', { problem: `a change of ${name} stands by itself` })
  }
  return { [name]: { [change.path.slice(name.length + 1)]: change.value } }
}

interface Change {
  readonly op: 'set'
  readonly path: string
  readonly value: Json
}

function patchOf(change: string): Change {
  const at = change.indexOf('=')
  if (at < 1) {
    throw cliError('cli.usage', { problem: `${change} is not a change PATH=JSON` })
  }
  const text = change.slice(at + 1)
  return { op: 'set', path: change.slice(0, at), value: jsonOrText(text) }
}

/** JSON, or else the text itself: quoting quotes for an address is tedious. */
function jsonOrText(text: string): Json {
  try {
    return parse(text)
  } catch {
    return text
  }
}
