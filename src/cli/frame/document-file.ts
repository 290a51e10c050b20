import { dirname, resolve } from 'node:path'
import { readDocument } from '../../core/index.js'
import { readInput } from './files.js'
import type { Frame } from './frame.js'

/** A document as a command was given it. */
export interface DocumentFile {
  /** What is run: a flow comes with the prompt assets of the directory beside its file. */
  readonly document: string
  /** What stands in the file, to which lines and columns refer. */
  readonly source: string
}

/**
 * Reads a document's file. Throws `cli.unreadable_file`, `core.limit_exceeded`,
 * `document.malformed`.
 */
export async function readDocumentFile(frame: Frame, file: string): Promise<DocumentFile> {
  const source = await readInput(frame, file)
  // Only flows have this word; the others need no more than their text.
  if (!source.includes('schemaVersion')) return { document: source, source }
  const { withPromptAssets } = await import('../../agent/index.js')
  const value = readDocument(source)
  const complete = await withPromptAssets(value, dirname(resolve(frame.cwd, file)))
  return { document: complete === value ? source : JSON.stringify(complete), source }
}
