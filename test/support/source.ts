import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Reads our own TypeScript as text, well enough for the tidy test: a scanner, not a compiler. */

export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface SourceFile {
  /** Path from the repository's root, with forward slashes. */
  readonly path: string
  readonly text: string
  readonly lines: readonly string[]
  /** The text with comments and the insides of strings blanked; offsets and lines are kept. */
  readonly code: string
  readonly imports: readonly Import[]
}

export interface Import {
  /** As written: `./x.js`, `node:fs`, `xstate`. */
  readonly specifier: string
  /** Only types cross: `import type`, `export type`. */
  readonly typeOnly: boolean
  /** `import(...)`: loaded when that line runs, not with the file. */
  readonly isLazy: boolean
  readonly line: number
}

/** All files below `folder` whose names end with one of the endings, sorted by path. */
export function filesBelow(folder: string, endings: readonly string[]): readonly string[] {
  const absolute = join(root, folder)
  if (!statSync(absolute, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(absolute, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name).split(sep).join('/'))
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .filter((path) => !/(^|\/)(node_modules|dist)\//.test(path))
    .sort()
}

export function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8')
  const code = blankOut(text)
  return { path, text, lines: text.split('\n'), code, imports: findImports(text, code) }
}

/** Line of an offset, from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/** Path from the root that a relative import of one of our files means; undefined for packages. */
export function resolveImport(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  const path = posix.normalize(`${dirname(from)}/${specifier}`)
  const withMarkup = path.replace(/\.js$/, '.tsx')
  return existsSync(join(root, withMarkup)) ? withMarkup : path.replace(/\.js$/, '.ts')
}

/** Name of the package an import needs; undefined for relative ones. */
export function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith('.')) return undefined
  if (specifier.startsWith('node:')) return specifier
  const parts = specifier.split('/')
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]
}

export interface FunctionBody {
  readonly line: number
  readonly length: number
}

/**
 * Functions, methods and block-bodied arrows, with the lines from their `(` or name to their `}`.
 */
export function functionBodies(code: string): readonly FunctionBody[] {
  const bodies: FunctionBody[] = []
  const open: { readonly at: number; readonly head: number | undefined }[] = []
  for (let at = 0; at < code.length; at += 1) {
    if (code[at] === '{') open.push({ at, head: headOfBody(code, at) })
    if (code[at] !== '}') continue
    const start = open.pop()
    if (start?.head === undefined) continue
    const line = lineAt(code, start.head)
    bodies.push({ line, length: lineAt(code, at) - line + 1 })
  }
  return bodies
}

const CONTROL = /\b(if|for|while|switch|catch|with)\s*$/

/** Offset of the parameter list if the brace at `at` opens a function body. */
function headOfBody(code: string, at: number): number | undefined {
  const before = code.slice(Math.max(0, at - 2_000), at)
  const offset = at - before.length
  const match =
    /\)\s*(?::[^;{}()=]*(?:\{[^{}]*\}[\s>\]|&]*(?:undefined|null)?)?|=>|:[^;{}]*=>)?\s*$/.exec(
      before
    )
  if (match === null) {
    return /=>\s*$/.test(before) ? at : undefined
  }
  const opening = matchingParenthesis(before, match.index)
  if (opening === undefined) return at
  return CONTROL.test(before.slice(0, opening)) ? undefined : offset + opening
}

function matchingParenthesis(text: string, closing: number): number | undefined {
  let depth = 0
  for (let at = closing; at >= 0; at -= 1) {
    if (text[at] === ')') depth += 1
    if (text[at] === '(') depth -= 1
    if (depth === 0) return at
  }
  return undefined
}

function findImports(text: string, code: string): readonly Import[] {
  const imports: Import[] = []
  const statement =
    /\b(?:(import|export)(\s+type)?\b([^'"`;()=]*?)\bfrom\s*|import\s*|import\s*\(\s*)(['"])/g
  for (const match of code.matchAll(statement)) {
    const [whole = '', , type, names = '', quote = "'"] = match
    const start = match.index + whole.length
    const end = code.indexOf(quote, start)
    const listed = names.replace(/[{}\s]+/g, ' ').trim()
    const allTypes =
      names.includes('{') && listed.split(',').every((name) => /^\s*(type\s|$)/.test(name))
    imports.push({
      specifier: text.slice(start, end),
      typeOnly: type !== undefined || (allTypes && listed !== ''),
      isLazy: whole.includes('('),
      line: lineAt(text, match.index)
    })
  }
  return imports
}

/** Whether a slash after this text begins a regular expression rather than a division. */
function regexMayFollow(before: string): boolean {
  const previous = before.trimEnd()
  return (
    previous === '' ||
    /[(,=:[!&|?{};+\-*%<>~^]$/.test(previous) ||
    /\b(return|typeof|case|in|of|void|delete|throw|await|yield)$/.test(previous)
  )
}

/** Blanks comments, string contents, template text and regular expressions. */
function blankOut(text: string): string {
  const out = [...text.split('')]
  const templates: number[] = []
  let braces = 0
  let at = 0
  const blank = (from: number, to: number) => {
    for (let index = from; index < to; index += 1) if (out[index] !== '\n') out[index] = ' '
  }
  const template = () => {
    const end = endOfTemplateText(text, at)
    blank(at, end)
    at = end
    if (text[at] === '`') at += 1
    else {
      templates.push(braces)
      at += 2
    }
  }
  while (at < text.length) {
    const character = text[at] ?? ''
    const pair = text.slice(at, at + 2)
    if (pair === '//' || pair === '/*') {
      const end = pair === '//' ? indexOr(text, '\n', at) : indexOr(text, '*/', at + 2) + 2
      blank(at, end)
      at = end
    } else if (character === "'" || character === '"') {
      const end = endOfString(text, at + 1, character)
      blank(at + 1, end)
      at = end + 1
    } else if (character === '`') {
      at += 1
      template()
    } else if (character === '}' && templates.at(-1) === braces) {
      templates.pop()
      at += 1
      template()
    } else if (
      character === '/' &&
      // The end of an element is no regular expression.
      text[at - 1] !== '<' &&
      text[at + 1] !== '>' &&
      regexMayFollow(out.slice(Math.max(0, at - 40), at).join(''))
    ) {
      const end = endOfRegex(text, at + 1)
      blank(at + 1, end)
      at = end + 1
    } else {
      if (character === '{') braces += 1
      if (character === '}') braces -= 1
      at += 1
    }
  }
  return out.join('')
}

function endOfString(text: string, from: number, quote: string): number {
  let at = from
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1
  return at
}

function endOfTemplateText(text: string, from: number): number {
  let at = from
  while (at < text.length && text[at] !== '`' && text.slice(at, at + 2) !== '${') {
    at += text[at] === '\\' ? 2 : 1
  }
  return at
}

function endOfRegex(text: string, from: number): number {
  let at = from
  let inClass = false
  while (at < text.length && (inClass || text[at] !== '/')) {
    if (text[at] === '[') inClass = true
    if (text[at] === ']') inClass = false
    at += text[at] === '\\' ? 2 : 1
  }
  return at
}

function indexOr(text: string, part: string, from: number): number {
  const index = text.indexOf(part, from)
  return index === -1 ? text.length : index
}

/** Path from the root of an absolute path. */
export function fromRoot(absolute: string): string {
  return relative(root, absolute).split(sep).join('/')
}
