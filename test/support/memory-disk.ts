import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { isLong } from './effort.js'

const MEMORY_DISK = '/dev/shm'
/** `TMPFS_MAGIC` of Linux. */
const TMPFS = 0x01021994
const FREE_BYTES_MIN = 2 * 1024 ** 3

/**
 * Lets the usual form of the tests make their directories in memory, where there is room for them:
 * a ledger waits for the disk at each commit, and they commit many thousand times. Nothing that
 * they kill loses what the kernel has, so a disk shows them nothing more; the long form has
 * one. `TMPDIR` names another place.
 */
export function setup(): (() => void) | undefined {
  if (isLong || process.env['TMPDIR'] !== undefined || !isUsable()) return undefined
  const directory = mkdtempSync(`${MEMORY_DISK}/tally-tests-`)
  // As the system's: some tests are two users.
  chmodSync(directory, 0o1777)
  process.env['TMPDIR'] = directory
  return () => rmSync(directory, { recursive: true, force: true })
}

/** Whether it is in memory, large enough, and lets code be loaded, which some mounts do not. */
function isUsable(): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(MEMORY_DISK)
    if (type !== TMPFS || bavail * bsize < FREE_BYTES_MIN) return false
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
    return !mounts.some((line) => {
      const [, path, , options = ''] = line.split(' ')
      return path === MEMORY_DISK && options.split(',').includes('noexec')
    })
  } catch {
    return false
  }
}
