import { isJsonObject, type Json } from '../core/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { showReply } from './frame/intent.js'
import { table } from './frame/render.js'
import { withSession } from './frame/session.js'
import { text } from './frame/text.js'

/** `tally permissions`: what is granted to which code, and by whom. */
export async function permissions(frame: Frame): Promise<ExitCode> {
  const { output } = frame
  const reply = await withSession(frame, 'run', ({ client }) =>
    client.request('intent', { action: 'system.permissions' })
  )
  if (reply.type !== 'dapp') return showReply(frame, reply)
  const entries = reply['permissions'] as Json
  output.document('permissions', { permissions: entries })
  const rows = (Array.isArray(entries) ? entries : []).filter(isJsonObject).map((entry) => {
    const { capability, codeHash, by } = entry
    const principal = isJsonObject(by) ? `${String(by['kind'])} ${String(by['id'])}` : ''
    const name = entry['package'] ?? 'not installed'
    return [String(name), String(capability), String(codeHash).slice(0, 12), principal]
  })
  for (const line of table(rows)) output.line(line)
  if (rows.length === 0) output.line(text`nothing is granted`)
  return exitCodes.done
}
