import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { TallyError } from '../core/index.js'
import { inspectLocation, mainIdentity } from '../ledger/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { table } from './frame/render.js'

/** `tally identities`: those of a ledger's directory, by its marker alone; nothing is opened. */
export async function identities(frame: Frame): Promise<ExitCode> {
  const { output, directory } = frame
  const found = await inspectLocation(directory)
  if (found === undefined) throw new TallyError('ledger.not_found', { path: directory })
  const { marker, realPath } = found
  const main = mainIdentity(marker)
  const rows: string[][] = []
  for (const identity of marker.identities) {
    const isMain = identity === main
    const isFollower = marker.followers?.includes(identity) === true
    const hasKey = await isThere(join(realPath, 'keys', `${identity}.json`))
    output.document('identity', { identity, isMain, isFollower, hasKey })
    const about = [
      ...(isMain ? ['opened when none is named'] : []),
      ...(isFollower ? ['imported'] : []),
      ...(hasKey ? [] : ['no key file'])
    ]
    rows.push([identity, about.join(', ')])
  }
  for (const line of table(rows)) output.line(line)
  return exitCodes.done
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false
  )
}
