import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The code in the documentation, so that tests can run it. A comment on the line before a fence
 * says what becomes of the block under it:
 *
 *   <!-- file: NAME -->     it is a file that later blocks of the page use
 *   <!-- more -->           it goes on with the TypeScript block before it
 *   <!-- prints -->         it is, line by line, what the block before it prints
 *   <!-- run -->            its shell lines are run
 *   <!-- not run: WHY -->   it cannot be run here
 */
export interface Snippet {
  /** Path of the page from the root. */
  readonly page: string
  /** Line of the fence, from 1. */
  readonly line: number
  readonly language: string
  readonly directive: string
  readonly text: string
}

export const repository = fileURLToPath(new URL('../..', import.meta.url))

/** Pages whose code is run. */
export function pages(): readonly string[] {
  const docs = readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
  return ['README.md', ...docs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)]
    .map((name) => name.replaceAll('\\', '/'))
    .sort()
}

export function readPage(page: string): string {
  return readFileSync(join(repository, page), 'utf8')
}

const fence = /^```(\S*)\s*$/
const comment = /^<!-- (.*) -->$/

export function snippetsOf(page: string): readonly Snippet[] {
  const found: Snippet[] = []
  let open: { readonly language: string; readonly line: number; readonly from: number } | undefined
  const lines = readPage(page).split('\n')
  for (const [index, line] of lines.entries()) {
    const match = fence.exec(line)
    if (match === null) continue
    if (open === undefined) {
      open = { language: match[1] ?? '', line: index + 1, from: index + 1 }
      continue
    }
    const before = comment.exec(lines[open.line - 2] ?? '')
    found.push({
      page,
      line: open.line,
      language: open.language,
      directive: before?.[1] ?? '',
      text: lines
        .slice(open.from, index)
        .map((text) => `${text}\n`)
        .join('')
    })
    open = undefined
  }
  return found
}

/** The name in `file: NAME`. */
export function fileOf({ directive }: Snippet): string | undefined {
  return directive.startsWith('file: ') ? directive.slice('file: '.length) : undefined
}

/** The reason in `not run: WHY`. */
export function reasonNotRun({ directive }: Snippet): string | undefined {
  return directive.startsWith('not run: ') ? directive.slice('not run: '.length) : undefined
}
