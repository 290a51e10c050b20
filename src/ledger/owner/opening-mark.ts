import { open, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorNumber, ledgerError, limits, systemClock } from '../../core/index.js'

const OPENING_FILE = 'opening'

/**
 * The file `opening` of a location: some process is between its look for an owner and its own lock.
 * Of processes that start at once each would find no owner, and the owner file of the last would
 * fence one that already works. So they take turns; the mark decides nothing else.
 *
 * A mark whose process is gone, or that is older than {@link limits.OPENING_MARK_MS}, is removed:
 * two that remove it at once only meet the fence, which holds without a mark (L13).
 */
export async function withOpeningMark<Result>(
  realPath: string,
  work: () => Promise<Result>
): Promise<Result> {
  const path = join(realPath, OPENING_FILE)
  await take(path, realPath)
  try {
    return await work()
  } finally {
    await rm(path, { force: true })
  }
}

async function take(path: string, realPath: string): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      const file = await open(path, 'wx', 0o600)
      await file.writeFile(String(process.pid))
      await file.close()
      return
    } catch (error) {
      const kind = errorNumber(error)
      // What comes next reports a medium that cannot be written.
      if (kind !== 'EEXIST') return
      if (!(await isStale(path))) break
      await rm(path, { force: true })
    }
  }
  throw ledgerError('ledger.locked', { path: realPath, problem: 'another process opens it' })
}

const TRIES = 3

async function isStale(path: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path)
    if (systemClock.now() - mtimeMs > limits.OPENING_MARK_MS) return true
    const text = await readFile(path, 'utf8')
    // It was made and not written yet.
    return text !== '' && !isAlive(Number(text))
  } catch {
    return true
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorNumber(error) === 'EPERM'
  }
}
