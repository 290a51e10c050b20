import { cliError, isJsonObject, type Json } from '../core/index.js'
import { readDocumentFile } from './frame/document-file.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { askIntent, showReply } from './frame/intent.js'
import { showSafeMode, table } from './frame/render.js'
import { openSession, withSession } from './frame/session.js'
import { text } from './frame/text.js'
import { prepareDocument, type RunOptions } from './run.js'

export interface PublishOptions extends Pick<RunOptions, 'protocol' | 'pack' | 'chain' | 'config'> {
  readonly name?: string
  readonly withdraw?: string
}

/**
 * `tally publish FILE`: lets others than the owner run a document under its name, with the versions
 * that it leads to now; `--withdraw NAME` takes it back. Without a file: what is published (K14).
 */
export async function publish(
  frame: Frame,
  file: string | undefined,
  options: PublishOptions
): Promise<ExitCode> {
  const { name, withdraw, config } = options
  if (withdraw !== undefined && file !== undefined) {
    throw cliError('cli.usage', { problem: 'a file and --withdraw are given' })
  }
  if (withdraw !== undefined) {
    const session = await openSession(frame, 'run', { config })
    return askIntent(frame, session, { action: 'system.withdraw', payload: { name: withdraw } })
  }
  if (file === undefined) return list(frame)
  const read = await readDocumentFile(frame, file)
  const prepared = await prepareDocument(frame, { file, read, inputs: {} }, options)
  if (!prepared.ok) return prepared.exitCode
  const session = await openSession(frame, 'run', { config })
  const named = name === undefined ? {} : { name }
  const payload = { document: prepared.document, ...named }
  return askIntent(frame, session, { action: 'system.publish', payload })
}

async function list(frame: Frame): Promise<ExitCode> {
  const { output } = frame
  const reply = await withSession(frame, 'run', async ({ client }) => {
    await showSafeMode(frame, client)
    return client.request('intent', { action: 'system.published' })
  })
  if (reply.type !== 'dapp') return showReply(frame, reply)
  const published = reply['published'] as Json
  output.document('published', { published })
  const rows = (Array.isArray(published) ? (published as readonly Json[]) : [])
    .filter(isJsonObject)
    .map(({ name, definitionHash }) => [String(name), String(definitionHash)])
  for (const line of table(rows)) output.line(line)
  if (rows.length === 0) output.line(text`nothing is published`)
  return exitCodes.done
}
