import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { type IdentityId, isTallyError, ledgerError } from '../core/index.js'
import { inspectLocation, mainIdentity } from '../ledger/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { table } from './frame/render.js'
import { text } from './frame/text.js'

/**
 * `tally identities`: those of a ledger's directory, by its marker, and what they are called, which
 * the main one knows.
 */
export async function identities(frame: Frame): Promise<ExitCode> {
  const { output, directory } = frame
  const found = await inspectLocation(directory)
  if (found === undefined) throw ledgerError('ledger.not_found', { path: directory })
  const { marker, realPath } = found
  const main = mainIdentity(marker)
  const names = marker.identities.length > 1 ? await namesOf(frame) : new Map<IdentityId, string>()
  const rows: string[][] = []
  for (const identity of marker.identities) {
    const isMain = identity === main
    const isFollower = marker.followers?.includes(identity) === true
    const hasKey = await isThere(join(realPath, 'keys', `${identity}.json`))
    const name = names.get(identity) ?? null
    output.document('identity', { identity, name, isMain, isFollower, hasKey })
    const about = [
      ...(isMain ? ['opened when none is named'] : []),
      ...(isFollower ? ['imported'] : []),
      ...(hasKey ? [] : ['no key file'])
    ]
    rows.push([identity, name ?? '', about.join(', ')])
  }
  for (const line of table(rows)) output.line(line)
  return exitCodes.done
}

/** None, and why, where the main identity cannot be asked: the marker says who there is. */
async function namesOf(frame: Frame): Promise<ReadonlyMap<IdentityId, string>> {
  const { identityNames } = await import('./frame/identity-names.js')
  try {
    return await identityNames(frame)
  } catch (error) {
    if (!isTallyError(error)) throw error
    frame.output.log(text`names not read: ${error.message}`)
    return new Map()
  }
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false
  )
}
