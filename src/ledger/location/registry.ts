/**
 * The locations that this process has open, by real path.
 *
 * LevelDB's lock belongs to the process, and a refused second open in the same process silently
 * gives it up: another process can then write the same ledger. So a second open is refused here,
 * before LevelDB is asked (L4). The register hangs on the global object because two installed
 * copies of this package share the process and its locks.
 */
import { ledgerError } from '../../core/index.js'

const register = Symbol.for('tallystick/open-locations')

/** Claims a location. Throws `ledger.locked` while it is claimed; the function gives it back. */
export function claimLocation(realPath: string): () => void {
  const claimed = openLocations()
  if (claimed.has(realPath)) {
    throw ledgerError('ledger.locked', {
      path: realPath,
      problem: 'this process has it open already'
    })
  }
  claimed.add(realPath)
  let held = true
  return () => {
    if (held) claimed.delete(realPath)
    held = false
  }
}

function openLocations(): Set<string> {
  const holder = globalThis as { [register]?: Set<string> }
  holder[register] ??= new Set()
  return holder[register]
}
