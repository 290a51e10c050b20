import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { encodePackage, openPackage, packDirectory } from '../capability/index.js'
import { coreError, limits } from '../core/index.js'
import { readInput } from './frame/files.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { askIntent, showReply } from './frame/intent.js'
import { refusalLines } from './frame/refusals.js'
import { openSession } from './frame/session.js'
import { text } from './frame/text.js'

/**
 * `tally install PATH`: puts a package, a directory or a packed file, into the content store and
 * installs it. It may do nothing yet: the first intent asks, or `tally grant` grants.
 */
export async function install(
  frame: Frame,
  path: string,
  options: { readonly config?: string }
): Promise<ExitCode> {
  const packed = await packedText(frame, path)
  if (packed === undefined) return exitCodes.usage
  const session = await openSession(frame, 'run', { config: options.config })
  const reply = await session.client
    .request('install', { package: packed })
    .finally(() => session.close())
  if (reply.type === 'dapp') {
    const { manifest, codeHash } = openPackage(packed)
    const asks = manifest.capabilities.map(({ name }) => name)
    frame.output.log(text`${manifest.id} ${manifest.version} has the code hash ${codeHash}`)
    if (asks.length > 0) frame.output.log(text`it asks for ${asks.join(', ')}`)
  }
  return showReply(frame, reply)
}

/** `tally uninstall PACKAGE`: takes its grants back; what it stored stays. */
export async function uninstall(
  frame: Frame,
  id: string,
  options: { readonly config?: string }
): Promise<ExitCode> {
  const session = await openSession(frame, 'run', { config: options.config })
  return askIntent(frame, session, { action: 'package.uninstall', payload: { id } })
}

/** The canonical text of a package; undefined when it was refused, which is printed. */
async function packedText(frame: Frame, path: string): Promise<string | undefined> {
  const { output } = frame
  const full = resolve(frame.cwd, path)
  const found = await stat(full).catch(() => undefined)
  if (found?.isFile() === true) {
    const content = await readInput(frame, path)
    return encodePackage(openPackage(content))
  }
  const loaded = await packDirectory(full)
  if (!loaded.ok) {
    output.document('package.refused', { directory: path, refusals: loaded.refusals })
    for (const line of refusalLines(output.paint, path, loaded.refusals)) output.line(line)
    return undefined
  }
  const packed = encodePackage(loaded.package)
  const actual = Buffer.byteLength(packed)
  const limit = limits.INPUT_BYTES_MAX
  if (actual > limit) {
    throw coreError('core.limit_exceeded', { what: `Package ${path}`, actual, limit })
  }
  return packed
}
