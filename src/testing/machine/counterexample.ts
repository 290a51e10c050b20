import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CompiledWithChildren } from '../../block/index.js'
import type { JsonObject } from '../../core/index.js'
import type { Case } from './case.js'
import type { CodePlace } from './options.js'
import { drawPath } from './path-chart.js'
import type { Play } from './play.js'
import { promises, type Violation } from './promises/all.js'
import { placeAt } from './step-coverage.js'
import type { WrittenTarget } from './written-target.js'

/** A broken promise, with everything that shows how it came about. */
export interface Counterexample {
  readonly target: string
  readonly violation: Violation
  readonly given: Case
  readonly seed: number | undefined
  readonly play: Play
  readonly compiled: CompiledWithChildren
  /** Of the runs. */
  readonly context: JsonObject
  readonly from: CodePlace | undefined
  /** For a script that has no module; undefined: it needs one. */
  readonly written: WrittenTarget | undefined
}

/** What the error says: the promise, what happened in order, the script and the chart. */
export function counterexampleText(found: Counterexample): string {
  const { violation, play } = found
  const { promise, expected, actual } = violation
  const text = promises.find(({ code }) => code === promise)?.text ?? promise
  return [
    `  promise: ${text}`,
    ...(expected === undefined ? [] : [`  expected: ${expected}`]),
    ...(actual === undefined ? [] : [`  actual: ${actual}`]),
    '',
    'what happened, in order:',
    ...storyOf(play),
    '',
    'the script that plays it again:',
    scriptOf(found),
    'the chart, with the path:',
    chartOf(found)
  ].join('\n')
}

const STORY_LINES_MAX = 40

function storyOf({ world }: Play): readonly string[] {
  const { story } = world
  const shown = story.slice(-STORY_LINES_MAX)
  const left = story.length - shown.length
  const lines = shown.map((line, index) => `  ${left + index + 1}. ${line}`)
  return left === 0 ? lines : [`  (${left} lines before)`, ...lines]
}

/** A program of at most 30 lines that plays the case again. */
export function scriptOf(found: Counterexample): string {
  const { target, violation, given, seed } = found
  const { promise, problem } = violation
  const { imports, own, name, options } = partsOf(found)
  return [
    `// ${target} breaks the promise "${promise}": ${oneLine(problem)}`,
    ...(seed === undefined ? [] : [`// Found with seed ${seed}.`]),
    "import { verifyCase } from 'tallystick/testing'",
    ...imports,
    '',
    ...own,
    `await verifyCase(${name}, ${caseText(given)}, ${options})`,
    ''
  ].join('\n')
}

interface ScriptParts {
  readonly imports: readonly string[]
  readonly own: readonly string[]
  readonly name: string
  readonly options: string
}

/** Where the script has target and options from. */
function partsOf({ from, written }: Counterexample): ScriptParts {
  const named = { name: 'target', options: 'options' }
  if (from !== undefined) {
    const { module, target: name, options } = from
    if (options !== undefined) {
      return {
        imports: [`import { ${name}, ${options} } from '${module}'`],
        own: [],
        name,
        options
      }
    }
    const own = ['const options = {} // as in the test']
    return { ...named, imports: [`import { ${name} } from '${module}'`], own, name }
  }
  if (written !== undefined) {
    const { target, options } = written
    const own = [`const target = ${target}`, `const options = ${options}`]
    return { ...named, imports: [], own }
  }
  const imports = [
    '// Put here the module that exports the target and its options.',
    "import { target, options } from 'WHERE-IT-IS'"
  ]
  return { ...named, imports, own: [] }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}

/** One line for each member of the case. */
export function caseText(given: Case): string {
  const members = Object.entries(plainCase(given))
  const lines = members.map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`)
  return `{\n${lines.join(',\n')}\n}`
}

/** Without what says nothing. */
export function plainCase(given: Case): Case {
  const effects = Object.fromEntries(
    Object.entries(given.effects ?? {}).flatMap(([name, { answers, troubles = [] }]) => {
      const last = troubles.findLastIndex((one) => one !== null)
      const kept = troubles.slice(0, last + 1)
      const plain = {
        ...(answers === undefined ? {} : { answers }),
        ...(kept.length === 0 ? {} : { troubles: kept })
      }
      return Object.keys(plain).length === 0 ? [] : [[name, plain]]
    })
  )
  const { inputs, people = [], deaths = [], again } = given
  return {
    inputs,
    ...(Object.keys(effects).length === 0 ? {} : { effects }),
    ...(people.length === 0 ? {} : { people }),
    ...(deaths.length === 0 ? {} : { deaths }),
    ...(again === undefined ? {} : { again })
  }
}

/** The document's graph, with the path of the play in colour. */
export function chartOf({ compiled, play, violation, given, context }: Counterexample): string {
  const failedAt = failedIn(compiled, violation.path)
  return drawPath(compiled, { play, inputs: given.inputs, context, failedAt })
}

/** The node of the drawing: of workflows in code, steps of atomic parts are drawn too. */
function failedIn({ kind }: CompiledWithChildren, path: string | undefined): string | undefined {
  if (kind !== 'function' || path === undefined) return path?.split('/')[1]
  const place = placeAt(path).slice('root/'.length)
  return place === '' ? undefined : place
}

/** A module named by its URL, as a script in the directory imports it: its place may be another. */
export function seenFrom(directory: string, from: CodePlace): CodePlace {
  if (!from.module.startsWith('file:')) return from
  const path = relative(resolve(directory), fileURLToPath(from.module)).replaceAll('\\', '/')
  return { ...from, module: path.startsWith('.') ? path : `./${path}` }
}

/** Writes the script of a counterexample; gives its path. */
export async function saveScript(found: Counterexample, directory: string): Promise<string> {
  const { target, violation, seed = 0 } = found
  await mkdir(directory, { recursive: true })
  const path = join(directory, `${target}.${violation.promise}.${seed}.mjs`)
  await writeFile(path, scriptOf(found))
  return path
}
