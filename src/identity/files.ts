import { open } from 'node:fs/promises'

interface Syncing {
  readonly now: Promise<void>
  next: Promise<void> | undefined
}

/** Syncs that are under way, by their directories. */
const syncing = new Map<string, Syncing>()

/**
 * Makes the names in a directory durable that are there when this is called. Those that ask while
 * one sync is under way share the next.
 */
export function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return Promise.resolve()
  const underWay = syncing.get(path)
  if (underWay === undefined) return begin(path)
  underWay.next ??= underWay.now.then(
    () => begin(path),
    () => begin(path)
  )
  return underWay.next
}

function begin(path: string): Promise<void> {
  const now = sync(path)
  const entry: Syncing = { now, next: undefined }
  syncing.set(path, entry)
  const over = () => {
    // The next one, where there is one, has taken its place by now.
    if (syncing.get(path) === entry) syncing.delete(path)
  }
  now.then(over, over)
  return now
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Whether the system gave an error this name, such as ENOENT. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
