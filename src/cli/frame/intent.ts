import { checkSafeMode, type JsonObject, unreachable } from '../../core/index.js'
import type { DoneReply, IntentReply } from '../../intent/index.js'
import type { IntentRequest } from '../../runtime/index.js'
import { commandLine } from './command-line.js'
import { type ExitCode, exitCodes, type Frame } from './frame.js'
import type { Session } from './session.js'
import { Text, text } from './text.js'

/** Why an intent was not done, in words. Throws `ledger.safe_mode` where that is why. */
export function refusalIn(reply: Exclude<IntentReply, DoneReply>): string {
  if (reply.type !== 'error') return reply.type
  checkSafeMode(reply)
  return reply.message
}

/** Submits an intent, shows what it came to, and closes the session. */
export async function askIntent(
  frame: Frame,
  session: Session,
  request: IntentRequest
): Promise<ExitCode> {
  try {
    return showReply(frame, await session.client.request('intent', request))
  } finally {
    await session.close()
  }
}

/** Shows a reply; the exit code tells its kind. */
export function showReply(frame: Frame, reply: IntentReply): ExitCode {
  const { output } = frame
  output.document('intent', reply)
  switch (reply.type) {
    case 'dapp': {
      const { type, id, dappId, receipt, ...result } = reply
      const proof = receipt === null ? 'no receipt, it only reads' : `receipt ${receipt}`
      output.line(text`${output.paint('green', 'done')} ${id} by ${dappId}, ${proof}`)
      const shown = JSON.stringify(result satisfies JsonObject, null, 2)
      for (const line of shown.split('\n')) output.line(text`${line}`)
      return exitCodes.done
    }
    case 'permission_request': {
      const { id, dappId, capabilities, token, digest } = reply
      const wanted = capabilities.join(', ')
      output.line(text`${output.paint('yellow', 'waiting')} ${id}: ${dappId} asks for ${wanted}`)
      const grant = commandLine(frame, ['grant', dappId])
      const approve = commandLine(frame, ['approve', id, token, '--digest', digest])
      output.line(text`grant it:  ${new Text(grant)}`)
      output.line(text`or here:   ${new Text(approve)}`)
      return exitCodes.waiting
    }
    case 'waiting': {
      const { id, reason, token } = reply
      output.line(text`${output.paint('yellow', 'waiting')} ${id}: ${reason}, token ${token}`)
      return exitCodes.waiting
    }
    case 'error': {
      checkSafeMode(reply)
      const { id, reason, message } = reply
      output.line(text`${output.paint('red', 'failed')} ${id}: ${reason}: ${message}`)
      return exitCodes.failed
    }
    default:
      return unreachable(reply)
  }
}
