import { open, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  cliError,
  coreError,
  isJsonObject,
  type Json,
  type JsonObject,
  limits,
  parse,
  TallyError
} from '../../core/index.js'
import type { Frame } from './frame.js'

/**
 * Reads a text file that a command was given. Throws `cli.unreadable_file`, `core.limit_exceeded`.
 */
export async function readInput(frame: Frame, path: string): Promise<string> {
  try {
    const file = await open(resolve(frame.cwd, path), 'r')
    try {
      const { size } = await file.stat()
      const limit = limits.INPUT_BYTES_MAX
      if (size > limit) {
        throw coreError('core.limit_exceeded', { what: `File ${path}`, actual: size, limit })
      }
      return await file.readFile('utf8')
    } finally {
      await file.close()
    }
  } catch (cause) {
    if (cause instanceof TallyError) throw cause
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw cliError('cli.unreadable_file', { path, problem })
  }
}

/** A file that a command was given, or what comes on its standard input: `-`, or no file. */
export async function readInputOrStandard(frame: Frame, path: string | undefined): Promise<string> {
  if (path !== undefined && path !== '-') return readInput(frame, path)
  const limit = limits.INPUT_BYTES_MAX
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin) {
    const more = Buffer.from(chunk as Uint8Array)
    bytes += more.length
    if (bytes > limit) {
      throw coreError('core.limit_exceeded', { what: 'The input', actual: bytes, limit })
    }
    chunks.push(more)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Writes a file that a command was given; `isNew` overwrites none. Throws `cli.usage`. */
export async function writeOutput(
  frame: Frame,
  path: string,
  { content, isNew }: { readonly content: string; readonly isNew: boolean }
): Promise<void> {
  try {
    await writeFile(resolve(frame.cwd, path), content, { flag: isNew ? 'wx' : 'w' })
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw cliError('cli.usage', { problem: `${path} cannot be written: ${problem}` })
  }
}

/** JSON given as text, or as `@file`. Throws `cli.usage` with the option's name. */
export async function readJson(frame: Frame, given: string, option: string): Promise<Json> {
  const content = given.startsWith('@') ? await readInput(frame, given.slice(1)) : given
  try {
    return parse(content)
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw cliError('cli.usage', { problem: `${option} is not JSON: ${problem}` })
  }
}

/** The member `context` of what is asked for, when the option `--context` was given. */
export async function readContext(
  frame: Frame,
  given: string | undefined
): Promise<{ readonly context?: JsonObject }> {
  if (given === undefined) return {}
  const context = await readJson(frame, given, '--context')
  if (isJsonObject(context)) return { context }
  throw cliError('cli.usage', { problem: '--context is no object' })
}
