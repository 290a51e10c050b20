import { isJsonObject, type Json, type JsonObject } from '../core/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { showReply } from './frame/intent.js'
import { showSafeMode, table } from './frame/render.js'
import { withSession } from './frame/session.js'
import { joined, text } from './frame/text.js'

/** `tally packages`: what is installed, what it serves, and what it may do. */
export async function packages(frame: Frame): Promise<ExitCode> {
  const { output } = frame
  const reply = await withSession(frame, 'run', async ({ client }) => {
    await showSafeMode(frame, client)
    return client.request('intent', { action: 'system.packages' })
  })
  if (reply.type !== 'dapp') return showReply(frame, reply)
  const [installed, refused] = [membersOf(reply['packages']), membersOf(reply['refused'])]
  for (const one of installed) output.document('package', one)
  for (const one of refused) output.document('package.refused', one)
  const rows = installed.map(({ id, version, codeHash, intents, capabilities }) => [
    output.paint('bold', String(id)),
    String(version),
    String(codeHash).slice(0, 12),
    Array.isArray(intents) ? intents.join(' ') : '',
    joined(
      membersOf(capabilities).map(({ name, granted }) =>
        granted === true ? output.paint('green', `+${String(name)}`) : `-${String(name)}`
      )
    )
  ])
  for (const line of table(rows)) output.line(line)
  for (const { name, code, message } of refused) {
    output.line(
      text`${output.paint('red', 'refused')} ${String(name)}: ${String(code)}: ${String(message)}`
    )
  }
  if (installed.length === 0 && !output.isJson) output.log(text`no packages`)
  return exitCodes.done
}

function membersOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
