import { spawnSync } from 'node:child_process'
import { Console } from 'node:console'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { type BlockRegistry, compileDocument } from '../src/block/index.js'
import { reasons } from '../src/code/request.js'
import { isJsonObject, type Json, readDocument } from '../src/core/index.js'
import { loadExpressions } from '../src/expression/index.js'
import { parseDocument } from '../src/runtime/index.js'
import { checkAisDocument, parseProtocol } from '../src/workflow/index.js'
import { builtFile } from './support/built.js'
import { isLong, isSoak, isTaken } from './support/effort.js'
import { typedHere } from './support/project.js'
import {
  fileOf,
  pages,
  readPage,
  reasonNotRun,
  repository,
  type Snippet,
  snippetsOf
} from './support/snippets.js'

/**
 * The code of the documentation is run as a reader would run it: TypeScript is checked and compiled
 * against the built package, then run in a directory of its own; shell lines run the built command.
 * In the usual form every program is checked and those of one page in five are run; programs, and
 * lines that are nothing but commands, run in this process, which spares each the time that Node
 * takes to start and to load everything. In the long form all are run, the first of one page in
 * three in processes of their own; in soaks all of them.
 */

// Below the package, so that `tallystick` resolves to what is built.
const sources = join(repository, 'dist', 'docs')
const compiled = join(repository, 'dist', 'docs-compiled')
const SECONDS = 1_000
const all = pages().flatMap(snippetsOf)

/** A program of a page: one block and those that continue it. */
interface Program {
  readonly first: Snippet
  readonly text: string
  readonly prints: string | undefined
}

function folderOf(page: string): string {
  return page.replace(/\.md$/, '').replaceAll('/', '-')
}

function programsOf(page: string): readonly Program[] {
  const programs: Program[] = []
  for (const snippet of snippetsOf(page)) {
    const last = programs.at(-1)
    if (snippet.directive === 'prints' && last !== undefined) {
      programs[programs.length - 1] = { ...last, prints: snippet.text }
    }
    if (snippet.language !== 'ts' || reasonNotRun(snippet) !== undefined) continue
    if (snippet.directive === 'more' && last !== undefined) {
      programs[programs.length - 1] = { ...last, text: last.text + snippet.text }
    } else if (fileOf(snippet) === undefined) {
      programs.push({ first: snippet, text: snippet.text, prints: undefined })
    }
  }
  return programs
}

/** Whether what stands at a place among those of its page has processes of its own. */
function isAlone(page: string, place: number): boolean {
  return isSoak || (isLong && place === 0 && runPages.indexOf(page) % 3 === 0)
}

function nameOf({ first }: Program): string {
  return `line-${first.line}`
}

const runPages = pages().filter((page) =>
  snippetsOf(page).some(({ language, directive }) => language === 'ts' || directive === 'run')
)

describe('snippets', () => {
  beforeAll(() => {
    builtFile('index.js')
    rmSync(sources, { recursive: true, force: true })
    rmSync(compiled, { recursive: true, force: true })
    for (const page of runPages) writePage(page)
    writeFileSync(join(sources, 'tsconfig.json'), JSON.stringify(compilerOptions))
    const tsc = join(repository, 'node_modules', 'typescript', 'bin', 'tsc')
    const { stdout, status } = run(process.execPath, [tsc, '-p', sources], repository)
    expect({ stdout, status }).toEqual({ stdout: '', status: 0 })
  })

  for (const page of runPages.filter((_, place) => isTaken(place, 5))) {
    for (const [place, program] of programsOf(page).entries()) {
      it(`${page}:${program.first.line} runs`, async () => {
        const script = join(compiled, folderOf(page), `${nameOf(program)}.js`)
        const { stdout, stderr, status } = isAlone(page, place)
          ? run(process.execPath, [script], folder(page))
          : await ranHere(script, folder(page))
        expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
        if (program.prints !== undefined) expect(stdout).toBe(program.prints)
      })
    }
    const shells = snippetsOf(page).filter(({ directive }) => directive === 'run')
    for (const [place, snippet] of shells.entries()) {
      it(`${page}:${snippet.line} runs in a shell`, async () => {
        const commands = isAlone(page, place) ? undefined : commandsOf(snippet.text)
        const stdout =
          commands === undefined
            ? shell(snippet.text, folder(page))
            : await typed(commands, folder(page))
        const next = snippetsOf(page).find(({ line }) => line > snippet.line)
        if (next?.directive === 'prints') expect(stdout).toBe(next.text)
      })
    }
  }
})

describe('documents', async () => {
  const expressions = await loadExpressions()
  const yaml = all.filter(({ language }) => language === 'yaml')
  for (const snippet of yaml.filter(isAis)) {
    it(`${snippet.page}:${snippet.line} is right`, async () => {
      const others = yaml.filter((one) => one.page === snippet.page && isAis(one))
      const protocols = others.flatMap(({ text }) => {
        const parsed = parseProtocol(text)
        return parsed.ok ? [parsed.document] : []
      })
      const { issues } = await checkAisDocument(snippet.text, { protocols })
      expect(issues.filter(({ severity }) => severity === 'error')).toEqual([])
    })
  }
  for (const snippet of yaml.filter((one) => !isAis(one))) {
    it(`${snippet.page}:${snippet.line} compiles`, async () => {
      const parsed = await parseDocument(whole(readDocument(snippet.text)))
      if (!parsed.ok) expect(parsed.diagnostics).toEqual([])
      else {
        const result = compileDocument(parsed.definition, { registry: anyName, expressions })
        expect(result.ok ? [] : result.diagnostics).toEqual([])
      }
    })
  }
})

describe('the pages', () => {
  it('say why a block is not run', () => {
    const silent = all.filter((snippet) => reasonNotRun(snippet)?.trim() === '')
    expect(silent).toEqual([])
  })

  it('have only blocks of known languages', () => {
    const known = ['ts', 'yaml', 'sh', 'text', 'json', 'mermaid', '']
    expect(all.filter(({ language }) => !known.includes(language))).toEqual([])
  })

  it('tell every command of the command line', () => {
    const { stdout } = run(process.execPath, [builtFile('cli/main.js'), '--help'], repository)
    const [, commands = ''] = stdout.split('Commands:\n')
    const names = [...commands.matchAll(/^ {2}(\w+)/gm)].map((match) => match[1] ?? '')
    const table = readPage('docs/cli.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
    const missing = names.filter((name) => !table.some((line) => line.includes(`\`${name}`)))
    expect(names).toContain('verify')
    expect(missing).toEqual(['help'])
  })

  it('tell every kind of journal entry', () => {
    const source = readFileSync(join(repository, 'src/block/run/entries.ts'), 'utf8')
    const declared = [...source.matchAll(/readonly k: ((?:'[a-z.]+'(?: \| )?)+)/g)]
    const kinds = declared.flatMap(([, union = '']) => union.replaceAll("'", '').split(' | '))
    const page = readPage('docs/spec/journal.md')
    expect(kinds).toContain('sealed')
    expect(kinds.filter((kind) => !page.includes(`| \`${kind}\` |`))).toEqual([])
  })

  it('tell every reason of blocks', () => {
    const page = readPage('docs/spec/composite-document.md')
    expect(Object.values(reasons).filter((reason) => !page.includes(`\`${reason}\``))).toEqual([])
  })
})

function folder(page: string): string {
  return join(sources, folderOf(page))
}

function writePage(page: string): void {
  mkdirSync(folder(page), { recursive: true })
  for (const snippet of snippetsOf(page)) {
    const file = fileOf(snippet)
    if (file === undefined) continue
    mkdirSync(dirname(join(folder(page), file)), { recursive: true })
    writeFileSync(join(folder(page), file), snippet.text)
  }
  for (const program of programsOf(page)) {
    writeFileSync(join(folder(page), `${nameOf(program)}.ts`), program.text)
  }
}

const compilerOptions = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023', 'es2024.string', 'esnext.disposable'],
    types: ['node'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    strict: true,
    skipLibCheck: true,
    rootDir: '.',
    outDir: '../docs-compiled'
  },
  include: ['.']
}

const passphrase = { TALLY_PASSPHRASE: 'correct horse' }

function run(program: string, args: readonly string[], cwd: string) {
  return spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    timeout: 60 * SECONDS,
    env: { ...process.env, NO_COLOR: '1', ...passphrase, NODE_OPTIONS: '' }
  })
}

/** What a program says, and how it ends, when it is run in this process. */
async function ranHere(script: string, cwd: string) {
  const said = { stdout: '', stderr: '' }
  const sink = (name: keyof typeof said) =>
    new Writable({
      write(chunk, _encoding, done) {
        said[name] += chunk
        done()
      }
    })
  const before = process.cwd()
  vi.stubGlobal('console', new Console(sink('stdout'), sink('stderr')))
  vi.stubEnv('TALLY_PASSPHRASE', passphrase.TALLY_PASSPHRASE)
  process.chdir(cwd)
  try {
    await import(pathToFileURL(script).href)
    return { ...said, status: 0 }
  } finally {
    process.chdir(before)
    vi.unstubAllEnvs()
    vi.unstubAllGlobals()
  }
}

/** What shell lines say on stdout. */
function shell(text: string, cwd: string): string {
  const tally = `tally() { "${process.execPath}" "${builtFile('cli/main.js')}" "$@"; }`
  const lines = `${tally}\n${text}`
  const { stdout, stderr, status } = run('bash', ['-euo', 'pipefail', '-c', lines], cwd)
  expect({ stdout, stderr, status }).toEqual({ stdout, stderr, status: 0 })
  return stdout
}

interface Command {
  readonly words: readonly string[]
  readonly code: number
}

/** Shell lines that are commands of plain and quoted words, with the exit code that is allowed. */
function commandsOf(text: string): readonly Command[] | undefined {
  const commands: Command[] = []
  for (const line of text.trimEnd().split('\n')) {
    const [, typed, code = '0'] = /^tally ([^|]+?)(?: \|\| test \$\? -eq (\d))?$/.exec(line) ?? []
    if (typed === undefined || /[\\"$`;&<>]/.test(typed.replace(/'[^']*'/g, ''))) return undefined
    const words = typed.match(/'[^']*'|\S+/g) ?? []
    commands.push({ words: words.map((word) => word.replaceAll("'", '')), code: Number(code) })
  }
  return commands
}

/** What the same commands say when they are typed in this process. */
async function typed(commands: readonly Command[], cwd: string): Promise<string> {
  let said = ''
  for (const { words, code } of commands) {
    const environment = { NO_COLOR: '1', ...passphrase }
    const ended = await typedHere(words, { cwd, environment })
    expect({ words, ...ended }).toEqual({ words, ...ended, code })
    said += ended.stdout
  }
  return said
}

/** Whether a snippet is a document of AIS, which is always shown whole. */
function isAis({ text }: Snippet): boolean {
  return text.startsWith('schema: ais')
}

/** Part of a document stands for the whole: what it leaves out is filled in. */
function whole(part: Json): Json {
  if (!isJsonObject(part) || 'schema' in part) return part
  const nodes = isJsonObject(part['nodes']) ? part['nodes'] : {}
  const frame = { schema: 'tally-composite/1', name: 'part', version: '1' }
  return { ...frame, entry_point: Object.keys(nodes)[0] ?? '', ...part, nodes }
}

/** Every name leads somewhere: the pages show documents, not what is registered. */
const anyName: BlockRegistry = {
  block: (name) => ({ name, version: '1', sideEffects: 'none' }),
  composite: (name) => ({
    name,
    version: '1',
    maxSteps: 1,
    atomic: false,
    entryPoint: 'a',
    nodes: {
      a: { work: { kind: 'block', block: 'a' }, context: [], recovery: [], onError: 'stop' }
    },
    transitions: {}
  }),
  condition: () => () => true,
  repair: () => (request) => request
}
