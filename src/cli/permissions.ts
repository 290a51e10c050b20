import { isJsonObject, type Json, type JsonObject } from '../core/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { showReply } from './frame/intent.js'
import { showSafeMode, table } from './frame/render.js'
import { withSession } from './frame/session.js'
import { text } from './frame/text.js'

/** `tally permissions`: what is granted to which code and principal, and by whom. */
export async function permissions(frame: Frame): Promise<ExitCode> {
  const { output } = frame
  const reply = await withSession(frame, 'run', async ({ client }) => {
    await showSafeMode(frame, client)
    return client.request('intent', { action: 'system.permissions' })
  })
  if (reply.type !== 'dapp') return showReply(frame, reply)
  const { permissions: toCode = [], principals: toPrincipals = [] } = reply
  output.document('permissions', { permissions: toCode, principals: toPrincipals })
  const rows = [...rowsOf(toCode, 'package'), ...rowsOf(toPrincipals, 'subject')]
  for (const line of table(rows)) output.line(line)
  if (rows.length === 0) output.line(text`nothing is granted`)
  return exitCodes.done
}

function rowsOf(entries: Json, named: 'package' | 'subject'): readonly string[][] {
  return (Array.isArray(entries) ? (entries as readonly Json[]) : [])
    .filter((entry): entry is JsonObject => isJsonObject(entry))
    .map((entry) => {
      const { capability, codeHash, by, principal } = entry
      const name = String(entry[named] ?? 'not installed')
      const shown = principal === undefined ? name : `${nameOf(principal)}: ${name}`
      return [shown, String(capability), String(codeHash).slice(0, 12), nameOf(by)]
    })
}

function nameOf(principal: Json | undefined): string {
  if (principal === undefined || !isJsonObject(principal)) return ''
  return `${String(principal['kind'])} ${String(principal['id'])}`
}
