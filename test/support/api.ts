import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { root } from './source.js'

/**
 * The public surface of an entry point as text: every exported name with its declaration, sorted,
 * without comments. Read from the emitted `.d.ts` files, whose statements begin in column 0.
 */
export function publicSurface(entry: string): string {
  const declarations = [...exportedNames(join(root, entry))]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, texts]) => `// ${name}\n${texts.join('\n')}`)
  return `${declarations.join('\n\n')}\n`
}

export interface DocumentedName {
  readonly name: string
  /** The doc comment as it is written, without its frame; empty: none. */
  readonly text: string
  /** The declaration, with the comments of its members. */
  readonly declarations: readonly string[]
}

/** The same with its comments, for the reference on the site. */
export function documentedSurface(entry: string): readonly DocumentedName[] {
  return [...exportedNames(join(root, entry), 'documented')]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, texts]) => {
      const parts = texts.map((text) => /^(\/\*\*[\s\S]*?\*\/)?\n?([\s\S]*)$/.exec(text))
      const text = parts.map((part) => unframed(part?.[1] ?? '')).join('\n')
      return { name, text: text.trim(), declarations: parts.map((part) => part?.[2] ?? '') }
    })
}

function unframed(comment: string): string {
  return comment.replace(/^\/\*\*|\*\/$/g, '').replace(/^\s*\* ?/gm, '')
}

type Form = 'plain' | 'documented'

/** Names that two rooms would have to agree on are few; each maps to its declarations' texts. */
function exportedNames(file: string, form: Form = 'plain'): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, readonly string[]>()
  for (const statement of statementsOf(file, form)) {
    const declared = declaredName(statement)
    if (declared !== undefined && uncommented(statement).startsWith('export')) {
      names.set(declared, [...(names.get(declared) ?? []), statement])
    }
    for (const { name, local, from } of reExports(statement)) {
      names.set(name, resolve(file, local, from, form))
    }
  }
  return names
}

function resolve(
  file: string,
  name: string,
  from: string | undefined,
  form: Form
): readonly string[] {
  if (from !== undefined && !from.startsWith('.')) return [`export { ${name} } from '${from}'`]
  const target = from === undefined ? file : declarationFile(file, from)
  if (name === '*')
    return [`export * from '${relative(root, target)}'`, ...wholeModule(target, form)]
  const statements = statementsOf(target, form)
  const declared = statements.filter((statement) => declaredName(statement) === name)
  if (declared.length > 0) return declared
  const passedOn = statements.flatMap(reExports).find((one) => one.name === name)
  if (passedOn === undefined) throw new Error(`${name} is not declared in ${target}`)
  return resolve(target, passedOn.local, passedOn.from, form)
}

function wholeModule(file: string, form: Form): readonly string[] {
  return [...exportedNames(file, form).values()].flat()
}

function declarationFile(from: string, specifier: string): string {
  const file = join(dirname(from), specifier.replace(/\.js$/, '.d.ts'))
  if (!existsSync(file)) throw new Error(`${relative(root, file)} is not built`)
  return file
}

function statementsOf(file: string, form: Form): readonly string[] {
  const whole = readFileSync(file, 'utf8')
  const text = form === 'documented' ? whole : whole.replace(/\/\*[\s\S]*?\*\//g, '')
  const statements: string[] = []
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.startsWith('//') || line.trim() === '#private;') continue
    const isCommented = /^\/\*\*[\s\S]*\*\/$/.test(statements.at(-1) ?? '')
    if (isCommented && line.startsWith('/**')) statements.pop()
    if (/^[\s})\]]/.test(line) || (isCommented && !line.startsWith('/**')))
      statements.push(`${statements.pop() ?? ''}\n${line.trimEnd()}`)
    else statements.push(line.trimEnd())
  }
  return statements
}

function uncommented(statement: string): string {
  return statement.replace(/^\/\*\*[\s\S]*?\*\/\n/, '')
}

function declaredName(statement: string): string | undefined {
  const declaration =
    /^(?:export )?(?:declare )?(?:abstract )?(?:class|function|const|interface|type|enum) ([\w$]+)/
  return declaration.exec(uncommented(statement))?.[1]
}

interface ReExport {
  readonly name: string
  readonly local: string
  readonly from: string | undefined
}

function reExports(commented: string): readonly ReExport[] {
  const statement = uncommented(commented)
  const star = /^export \* as (\w+) from ['"]([^'"]+)['"]/.exec(statement)
  if (star !== null) return [{ name: star[1] ?? '', local: '*', from: star[2] }]
  const listed = /^(?:export|import)(?: type)? \{([^}]*)\}(?: from ['"]([^'"]+)['"])?/.exec(
    statement
  )
  if (listed === null) return []
  const [, names = '', from] = listed
  return names
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '')
    .map((item) => {
      const [local = '', name = local] = item.split(' as ')
      return { name, local, from }
    })
}
