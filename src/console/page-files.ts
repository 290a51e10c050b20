import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { coreError, inspectError, isTallyError, limits } from '../core/index.js'

/** A file of the page as it is served. */
export interface PageFile {
  readonly type: string
  readonly bytes: Uint8Array
}

/** Files by the path of their address, such as `/main.js`; the page itself is `/index.html`. */
export type PageFiles = ReadonlyMap<string, PageFile>

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8'
}

/** Where the page lies that was built with the package. */
export const pageDirectory = new URL('page/', import.meta.url)

/**
 * Reads all files of the page at once: requests find them by their address in what was read, and no
 * request reaches the disk. Files of other types, source maps among them, are left out.
 * Throws `console.unusable_page`.
 */
export async function readPageFiles(directory: string): Promise<PageFiles> {
  try {
    const files = new Map<string, PageFile>()
    const entries = await readdir(directory, { recursive: true, withFileTypes: true })
    for (const entry of entries) {
      const type = types[extname(entry.name)]
      if (!entry.isFile() || type === undefined) continue
      const path = join(entry.parentPath, entry.name)
      const { size } = await stat(path)
      check('Bytes of a file', size, limits.CONSOLE_FILE_BYTES_MAX)
      files.set(addressOf(relative(directory, path)), { type, bytes: await readFile(path) })
      check('Files', files.size, limits.CONSOLE_FILES_MAX)
    }
    if (files.has('/index.html')) return files
  } catch (cause) {
    const problem = isTallyError(cause) ? cause.message : String(cause)
    throw inspectError('console.unusable_page', { path: directory, problem }, { cause })
  }
  const problem = 'there is no index.html'
  throw inspectError('console.unusable_page', { path: directory, problem })
}

function check(what: string, actual: number, limit: number): void {
  if (actual > limit) throw coreError('core.limit_exceeded', { what, actual, limit })
}

function addressOf(path: string): string {
  return `/${path.split(sep).join('/')}`
}

/** Views of the page, whose addresses lead to the page itself. */
const views: ReadonlySet<string> = new Set(['runs', 'waits', 'work', 'ledger', 'state', 'health'])

/** What stands at an address, without its query; undefined for nothing. */
export function fileAt(files: PageFiles, path: string): PageFile | undefined {
  const file = files.get(path)
  if (file !== undefined) return file
  const [, view = ''] = path.split('/')
  return path === '/' || views.has(view) ? files.get('/index.html') : undefined
}
