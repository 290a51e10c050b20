import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import {
  isJsonObject,
  isTallyError,
  type JsonObject,
  ledgerError,
  limits,
  parse,
  rfc3339
} from '../core/index.js'

/** Name of the owner file of a location, which its owner writes (store.md). */
export const OWNER_FILE = 'owner.json'
export const OWNER_FILE_FORMAT = 'tally-owner-file'

/** Path of the socket that the owner file of a location names; undefined where none is readable. */
export async function namedSocket(realPath: string): Promise<string | undefined> {
  const socket = (await ownerFileOf(realPath))?.['socket']
  return typeof socket === 'string' ? socket : undefined
}

/**
 * The error of a ledger that is in use, with the process that holds it: its id, its command and
 * since when, as far as its owner file says so. Another error is given back as it is.
 */
export async function namingHolder(realPath: string, error: unknown): Promise<unknown> {
  if (!isTallyError(error, 'ledger.locked')) return error
  const { path, problem } = error.context
  const holder = await holderOf(realPath)
  if (holder === undefined) return error
  const cause = { cause: error.cause ?? error }
  return ledgerError('ledger.locked', { path, problem: `${problem} (${holder})` }, cause)
}

async function holderOf(realPath: string): Promise<string | undefined> {
  const { process: id, command, since } = (await ownerFileOf(realPath)) ?? {}
  // Of two that open at once, the one that is refused may have written the file last.
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id === process.pid) return undefined
  const named = typeof command === 'string' ? `, ${command.replace(/\p{C}/gu, ' ')}` : ''
  const from = typeof since === 'number' ? `, since ${rfc3339(since)}` : ''
  return `process ${id}${named}${from}`
}

async function ownerFileOf(realPath: string): Promise<JsonObject | undefined> {
  const text = await smallFile(join(realPath, OWNER_FILE))
  if (text === undefined) return undefined
  try {
    const value = parse(text)
    return isJsonObject(value) && value['format'] === OWNER_FILE_FORMAT ? value : undefined
  } catch {
    return undefined
  }
}

/** A location may come from someone else: no link is followed, no pipe is waited for. */
async function smallFile(path: string): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW
  const file = await open(path, flags).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const bytes = Buffer.alloc(limits.OWNER_FILE_BYTES_MAX)
    if (!(await file.stat()).isFile()) return undefined
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
    return bytes.toString('utf8', 0, bytesRead)
  } catch {
    return undefined
  } finally {
    await file.close()
  }
}
