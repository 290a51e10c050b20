import { findSourceMap } from 'node:module'
import { dirname, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Place } from './report.js'

/**
 * Finds the line of a block's code that leads to a built-in. Frames of Node and of this library
 * are no code of a block; what a library does is found at the line that calls the library.
 */

const here = dirname(fileURLToPath(import.meta.url))
const library = dirname(dirname(here)) + sep
const edges = [here + sep, `${library}code${sep}block.js`]
const libraryFrames = `${sep}node_modules${sep}`

export type Caller =
  | { readonly kind: 'code'; readonly at: Place | undefined }
  /** Node itself, or this library. */
  | { readonly kind: 'other' }

let isLooking = false

interface Frame {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** Frames of the stack here that are in files, the innermost first. */
function frames(): readonly Frame[] {
  const holder: { stack?: unknown } = {}
  const limit = Error.stackTraceLimit
  isLooking = true
  try {
    Error.stackTraceLimit = Number.POSITIVE_INFINITY
    Error.captureStackTrace(holder, frames)
    const { stack } = holder
    // While the engine has one stack formatted, it formats another one itself.
    return Array.isArray(stack) ? stack.flatMap(frameOf) : textFrames(stack)
  } finally {
    Error.stackTraceLimit = limit
    isLooking = false
  }
}

function frameOf(site: NodeJS.CallSite): readonly Frame[] {
  const name = site.getFileName()
  if (name === null || name === undefined || name === '') return []
  const [line, column] = [site.getLineNumber() ?? 0, site.getColumnNumber() ?? 1]
  return [{ file: pathOf(name), line, column }]
}

function textFrames(stack: unknown): readonly Frame[] {
  return typeof stack === 'string' ? stack.split('\n').flatMap(frameIn) : []
}

const inText = /(?:\(|\bat (?:async )?)((?:file:|node:|\/|[A-Z]:\\)[^()]*):(\d+):(\d+)\)?$/

function frameIn(text: string): readonly Frame[] {
  const [, name, line, column] = inText.exec(text) ?? []
  // Of Node, between the engine that formats a stack and what has read it.
  if (name === undefined || text.includes('prepareStackTrace')) return []
  return [{ file: pathOf(name), line: Number(line), column: Number(column) }]
}

function pathOf(name: string): string {
  return name.startsWith('file:') ? fileURLToPath(name) : name
}

/** The line of code where an error was made, found without its stack being read. */
export function findOrigin(error: Error): Caller {
  isLooking = true
  try {
    const stack: unknown = error.stack
    return callerIn(Array.isArray(stack) ? stack.flatMap(frameOf) : textFrames(stack), true)
  } finally {
    isLooking = false
  }
}

/** Whose code has called; `isThroughNode`: also where a function of Node stands between. */
export function findCaller(isThroughNode: boolean): Caller {
  return callerIn(frames(), isThroughNode)
}

function callerIn(stack: readonly Frame[], isThroughNode: boolean): Caller {
  let within: Place | undefined
  let isFirst = true
  for (const frame of stack) {
    const { file } = frame
    if (file.startsWith('node:')) {
      if (isFirst && !isThroughNode) return { kind: 'other' }
      continue
    }
    if (edges.some((edge) => file.startsWith(edge))) {
      if (isFirst) continue
      break
    }
    isFirst = false
    if (file.startsWith(library)) return { kind: 'other' }
    const place = mapped(frame)
    if (!file.includes(libraryFrames)) return { kind: 'code', at: place }
    within ??= place
  }
  return { kind: 'code', at: within }
}

/** Where it stands in the source, where the file has a map to it. */
function mapped({ file, line, column }: Frame): Place {
  const entry = findSourceMap(file)?.findEntry(line - 1, column - 1)
  if (entry === undefined || !('originalLine' in entry)) return { file, line }
  return { file: pathOf(entry.originalSource), line: entry.originalLine + 1 }
}

/** Formats stacks as V8 does, and calls `read` when something else than this file reads one. */
export function watchStacks(read: () => void): void {
  Error.prepareStackTrace = (error, sites) => {
    if (isLooking) return sites
    read()
    return [headOf(error), ...sites.map((site) => `    at ${String(site)}`)].join('\n')
  }
}

function headOf(error: Error): string {
  try {
    return String(error)
  } catch {
    return '<error>'
  }
}
