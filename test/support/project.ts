import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Place } from '../../src/cli/program.js'
import { builtFile, builtModule } from './built.js'
import { isFirstOfForm } from './command-forms.js'
import { isLong, isSoak } from './effort.js'

type Program = typeof import('../../src/cli/program.js')

/** What a command left behind. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** The documents of `--json`. */
  readonly documents: readonly Readonly<Record<string, unknown>>[]
}

export interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves when stdout or stderr has said this. */
  says(words: string): Promise<void>
  /** What stdout and stderr have said so far. */
  said(): string
}

interface StartOptions {
  readonly cwd?: string
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly uid?: number
}

/** A user's project: a folder with a configuration and documents, in which commands are typed. */
export class Project {
  readonly folder: string
  readonly #started: ChildProcess[] = []

  private constructor(folder: string) {
    this.folder = folder
  }

  static async create(): Promise<Project> {
    const project = new Project(await mkdtemp(join(tmpdir(), 'tally-project-')))
    await project.write('package.json', '{"name":"project","type":"module"}\n')
    await project.write('tally.config.ts', config)
    for (const [name, text] of Object.entries(documents)) await project.write(name, text)
    return project
  }

  /** The same with a ledger, in which the run `first` is done. */
  static async withRun(): Promise<Project> {
    const project = await Project.create()
    for (const words of [
      ['init', '--insecure-plaintext-key'],
      ['run', 'greet.yaml', '--id', 'first']
    ]) {
      const { code, stderr } = await project.tally(words)
      if (code !== 0) throw new Error(`tally ${words.join(' ')}: ${stderr}`)
    }
    return project
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  write(name: string, text: string): Promise<void> {
    return writeFile(this.path(name), text)
  }

  /**
   * Runs a command of the built command line to its end, without a terminal. As another user or in
   * another environment, and with `LONG=1` the first of each form in all files, in a process of its
   * own; otherwise in this one, which spares the time that Node takes to start and to load
   * everything. A configuration that was loaded stays loaded: one that changes needs another name.
   */
  tally(args: readonly string[], options: StartOptions = {}): Promise<Ended> {
    const names = Object.keys(options.environment ?? {})
    const isOther = options.uid !== undefined || names.some((name) => !isGivenHere(name))
    if (isOther || this.#needsProcess(args)) return this.start(args, options).ended
    return typedHere(args, {
      cwd: options.cwd ?? this.folder,
      environment: { ...plainEnvironment(), ...options.environment }
    })
  }

  start(args: readonly string[], options: StartOptions = {}): Started {
    const child = spawn(process.execPath, [builtFile('cli/main.js'), ...args], {
      cwd: options.cwd ?? this.folder,
      env: { ...plainEnvironment(), ...options.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid })
    })
    this.#started.push(child)
    return listenTo(child)
  }

  #needsProcess(args: readonly string[]): boolean {
    if (isSoak || !isLong) return isSoak
    return isFirstOfForm(formOf(args))
  }

  async remove(): Promise<void> {
    for (const child of this.#started) if (child.exitCode === null) child.kill('SIGKILL')
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** Commands whose next word names one of theirs. */
const groups: ReadonlySet<string> = new Set(['approval', 'key', 'package', 'test', 'upgrade'])

/**
 * What a process does otherwise than another: it starts for a command, loads the code of that and
 * of the kinds of its files, and prints for people or for programs. All else `perform` does here.
 */
function formOf(args: readonly string[]): string {
  const commands = args.slice(0, groups.has(args[0] ?? '') ? 2 : 1)
  const others = args.slice(commands.length)
  const kinds = others.flatMap((word) => /^[\w-]+(\.\w+)$/.exec(word)?.[1] ?? [])
  const printed = others.includes('--json') ? ['--json'] : []
  return [...commands, ...new Set(kinds.sort()), ...printed].join(' ')
}

/** Variables that may differ between commands of one process that do not overlap. */
function isGivenHere(name: string): boolean {
  return toFrame.has(name) || name.startsWith(SETTINGS)
}

/** How variables begin that a command reads from its process. */
const SETTINGS = 'TALLY_LLM_'

/** Variables that a command reads from its frame alone. */
const toFrame: ReadonlySet<string> = new Set(['TALLY_APPROVER_PASSPHRASE', 'TALLY_PASSPHRASE'])

function plainEnvironment(): Record<string, string | undefined> {
  const { TALLY_APPROVER_PASSPHRASE: _, TALLY_PASSPHRASE: __, ...others } = process.env
  const { XDG_RUNTIME_DIR: ___, ...rest } = others
  return { ...rest, NO_COLOR: '1' }
}

/** Runs a command of the built command line to its end in this process. */
export async function typedHere(
  args: readonly string[],
  place: Pick<Place, 'cwd' | 'environment'>
): Promise<Ended> {
  // As for processes: the path of a ledger's socket must be the same here and there.
  delete process.env['XDG_RUNTIME_DIR']
  const { perform }: Program = await import(builtModule('cli/program.js'))
  const said = { stdout: '', stderr: '' }
  const sink = (name: keyof typeof said) => ({
    write(chunk: string, done?: () => void) {
      said[name] += chunk
      done?.()
      return true
    }
  })
  const settings = Object.entries(place.environment).filter(([name]) => name.startsWith(SETTINGS))
  const before = settings.map(([name]) => [name, process.env[name]] as const)
  set(settings)
  const streams = { stdout: sink('stdout'), stderr: sink('stderr') }
  const code = await perform(args, { ...streams, ...place }).finally(() => set(before))
  return { code, ...said, documents: documentsOf(said.stdout) }
}

function set(variables: readonly (readonly [string, string | undefined])[]): void {
  for (const [name, value] of variables) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}

function listenTo(child: ChildProcess): Started {
  let stdout = ''
  let stderr = ''
  let listeners: (() => void)[] = []
  const tell = () => {
    for (const listener of listeners) listener()
  }
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8')
    tell()
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8')
    tell()
  })
  const ended = once(child, 'close').then(([code]): Ended => {
    tell()
    return { code: code as number | null, stdout, stderr, documents: documentsOf(stdout) }
  })
  const says = (words: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (`${stdout}${stderr}`.includes(words)) {
          listeners = listeners.filter((listener) => listener !== look)
          resolve()
        } else if (child.exitCode !== null) {
          reject(new Error(`it ended without saying ${words}: ${stdout}${stderr}`))
        }
      }
      listeners.push(look)
      look()
    })
  return { child, ended, says, said: () => `${stdout}${stderr}` }
}

function documentsOf(stdout: string): Ended['documents'] {
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
  try {
    return lines.map((line) => JSON.parse(line))
  } catch {
    return []
  }
}

const config = `
import { defineBlock, defineConfig } from 'tallystick'

const greet = defineBlock({
  name: 'greet',
  version: '1',
  sideEffects: 'none',
  run: (ctx, input: { name?: string }) => {
    ctx.log('greeting')
    ctx.state.set('greeted', input.name ?? 'nobody')
    return { greeting: 'hello ' + (input.name ?? 'nobody') }
  }
})

const fail = defineBlock({
  name: 'fail',
  version: '1',
  sideEffects: 'none',
  run: (ctx) => ctx.fail('no_luck', { why: 'because' })
})

const ask = defineBlock({
  name: 'ask',
  version: '1',
  sideEffects: 'none',
  run: async (ctx) => {
    const answer = await ctx.wait({ reason: 'external', request: { question: 'how many?' } })
    return { answer: answer.value }
  }
})

// Runs for a second or until it is stopped.
const slow = defineBlock({
  name: 'slow',
  version: '1',
  sideEffects: 'none',
  run: async (ctx) => {
    for (let turn = 0; turn < 50; turn += 1) {
      await ctx.effect('turn', {
        request: { turn },
        perform: () => new Promise((resolve) => setTimeout(() => resolve(turn), 20))
      })
    }
    return { turns: 50 }
  }
})

export default defineConfig({ blocks: [greet, fail, ask, slow] })
`

function single(name: string, node: string): string {
  return `schema: tally-composite/1
name: ${name}
version: "1"
entry_point: first
nodes:
  first:
${node}
`
}

const documents = {
  'greet.yaml': single('greet', '    block: greet'),
  'fail.yaml': single('fail', '    block: fail'),
  'ask.yaml': single('ask', '    block: ask'),
  'slow.yaml': single('slow', '    block: slow'),
  'confirm.yaml': single('confirm', '    block: greet\n    confirm:\n      message: Really?'),
  'unknown-block.yaml': single('unknown', '    block: nothing.of.this.name'),
  'unknown-condition.yaml': `${single('unknown', '    block: greet')}  second:
    block: greet
transitions:
  first:
    - condition: nothing.of.this.name
      target: second
`,
  'malformed.yaml': 'schema: tally-composite/1\nname: [unclosed\nversion: "1"\n',
  'invalid.yaml': `${single('invalid', '    block: greet\n    blok: greet')}`
}

/** A document of a kind, or a failure that says what there was. */
export function documentOf(ended: Ended, type: string): Readonly<Record<string, unknown>> {
  const found = ended.documents.find((document) => document['$type'] === type)
  if (found === undefined) throw new Error(`no ${type} in ${ended.stdout}${ended.stderr}`)
  return found
}
