import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import { limits } from '../../core/index.js'
import { type CaseResult, type JobCase, unendedResult } from './job.js'
import type {
  DetectedBlock,
  Impurity,
  ImpurityKind,
  ImpurityOptions,
  ImpurityReport
} from './report.js'
import { type CaseResults, runCases } from './run-child.js'
import { anotherProcess, firstWorld, otherWorld, variations, worldWith } from './worlds.js'

/**
 * What a block's code does past `ctx` (K8): clock, chance, timers, network, files,
 * environment, processes, threads, variables of its module, order of keys, texts of stacks.
 *
 * The module is loaded in processes of its own, whose built-ins were replaced before, so that
 * references which the module keeps are found as well. Calls that act outside are noted and
 * refused. Outcomes are compared with those of a process in which everything varies.
 */
export async function detectImpurity(
  target: DetectedBlock,
  options: ImpurityOptions = {}
): Promise<ImpurityReport> {
  const [report] = await detectImpurities([target], options)
  return report ?? reportOf(unendedResult('it was not executed'), [], undefined)
}

/** The same for many blocks, which share the processes; reports in the order of the targets. */
export async function detectImpurities(
  targets: readonly DetectedBlock[],
  { timeoutMs = limits.DETECTION_MS_DEFAULT }: ImpurityOptions = {}
): Promise<readonly ImpurityReport[]> {
  const cases = targets.map((target, number) => ({ ...target, number, module: urlOf(target) }))
  const plain = { world: firstWorld, cases, isSearching: false }
  const [first, other] = await Promise.all([
    runCases(plain, timeoutMs),
    runCases({ ...plain, world: otherWorld() }, timeoutMs)
  ])
  const differing = cases.filter(({ number }) => differs(first.get(number), other.get(number)))
  const causes = await findCauses(differing, first, timeoutMs)
  return cases.map(({ number }) => {
    const result = first.get(number) ?? unendedResult('it was not executed')
    const second = other.get(number)
    const cause = causes.get(number)
    if (cause === undefined || second === undefined) return reportOf(result, [], undefined)
    const isRepeated = result.first !== result.second
    const unlike = result.first === second.first ? result.second : second.first
    const varied = {
      changed: [...(isRepeated ? ['second execution'] : []), ...cause.changed],
      first: result.first,
      second: unlike
    }
    return reportOf(result, cause.suspects, varied)
  })
}

interface Cause {
  readonly changed: readonly string[]
  readonly suspects: readonly Impurity[]
}

function differs(first: CaseResult | undefined, other: CaseResult | undefined): boolean {
  if (first === undefined || other === undefined || first.unended !== undefined) return false
  return first.first !== other.first || first.first !== first.second
}

/** Finds what alone makes the difference, and what of the code or its module may be behind it. */
async function findCauses(
  cases: readonly JobCase[],
  first: CaseResults,
  timeoutMs: number
): Promise<ReadonlyMap<number, Cause>> {
  if (cases.length === 0) return new Map()
  const changed = await whatChanges(cases, first, timeoutMs)
  const search = { world: firstWorld, cases, isSearching: true }
  const searched = await runCases(search, timeoutMs)
  return new Map(
    cases.map(({ number }) => {
      const names = changed.get(number) ?? []
      const before = first.get(number)
      const seen = before?.findings ?? []
      const kinds = new Set(
        names.flatMap((name) =>
          // Nothing else need be behind what varies by itself, where the block was seen at it.
          name === anotherProcess && seen.length > 0 ? [] : (kindsOf[name] ?? [])
        )
      )
      if (before?.first !== before?.second) kinds.add('module state')
      // What the block itself was seen doing explains more than what its module does.
      for (const { kind } of seen) kinds.delete(kind)
      const isSeen = seen.length > 0
      const suspects = suspectsOf(searched.get(number), kinds, isSeen)
      return [number, { changed: names, suspects }]
    })
  )
}

function suspectsOf(
  searched: CaseResult | undefined,
  kinds: ReadonlySet<ImpurityKind>,
  isSeen: boolean
): readonly Impurity[] {
  const suspects = searched?.suspects.filter(({ kind }) => kinds.has(kind)) ?? []
  const place = searched?.place
  if (isSeen || suspects.length > 0 || place === undefined) return suspects
  if (!kinds.has('module state')) return []
  // A debugger does not see every variable: of other modules, private, of generators.
  const kind = 'module state'
  return [{ kind, api: 'something kept outside ctx', at: place, instead: 'ctx.state' }]
}

/** Names of what makes a difference when it alone is varied, by number of the case. */
async function whatChanges(
  cases: readonly JobCase[],
  first: CaseResults,
  timeoutMs: number
): Promise<ReadonlyMap<number, readonly string[]>> {
  const changed = new Map<number, string[]>(cases.map(({ number }) => [number, []]))
  const vary = async (name: string, some: readonly JobCase[]) => {
    const world = worldWith(variations[name] ?? {})
    const results = await runCases({ world, cases: some, isSearching: false }, timeoutMs)
    for (const [number, result] of results) {
      if (result.first !== first.get(number)?.first) changed.get(number)?.push(name)
    }
  }
  await vary(anotherProcess, cases)
  // Of what differs in an equal process no further comparison says anything.
  const open = cases.filter(({ number }) => changed.get(number)?.length === 0)
  const names = Object.keys(variations).filter((name) => name !== anotherProcess)
  for (let at = 0; at < names.length; at += PROCESSES_AT_ONCE) {
    const some = names.slice(at, at + PROCESSES_AT_ONCE)
    await Promise.all(some.map((name) => vary(name, open)))
  }
  for (const found of changed.values()) found.sort((a, b) => names.indexOf(a) - names.indexOf(b))
  return changed
}

const PROCESSES_AT_ONCE = 2

/** What a difference may come from that shows when this alone is changed. */
const kindsOf: Readonly<Record<string, readonly ImpurityKind[]>> = {
  [anotherProcess]: ['environment', 'chance', 'clock'],
  'key order': ['order of keys'],
  clock: ['clock'],
  chance: ['chance'],
  'time zone': ['environment'],
  locale: ['environment'],
  environment: ['environment'],
  directory: ['environment'],
  'stack depth': ['stack']
}

function reportOf(
  { findings, unended }: CaseResult,
  suspects: readonly Impurity[],
  varied: ImpurityReport['varied']
): ImpurityReport {
  const all = [...findings, ...suspects]
  return {
    ok: all.length === 0 && varied === undefined && unended === undefined,
    findings: all,
    ...(varied === undefined ? {} : { varied }),
    ...(unended === undefined ? {} : { unended }),
    notChecked
  }
}

const notChecked: readonly string[] = [
  'code that this input, state and tape do not reach, and modules that it loads while it runs',
  'what perform, locate and providers do: they are not executed',
  'native addons, and memory that threads share',
  'the console and standard streams',
  'texts of dates without a zone that are parsed, and variables, where the outcomes are the same',
  'other versions of Node, other operating systems and processors'
]

function urlOf({ module }: DetectedBlock): string {
  if (module instanceof URL) return module.href
  return isAbsolute(module) ? pathToFileURL(module).href : module
}
