import { fileURLToPath } from 'node:url'
import { type Block, checkOnce, type OnceResult } from '../../block/index.js'
import { canonicalize } from '../../core/index.js'
import { reversed } from '../ambient.js'
import { type CaseResult, type Job, type JobCase, unendedResult } from './job.js'
import { watchedKeys } from './key-order.js'
import type { Impurity, Place } from './report.js'
import { Execution, insideBlock, noteRefusal } from './watch.js'
import { beginReadings } from './world-clock.js'

/** Loads one block, executes it twice and says what it did. */
export async function runCase(one: JobCase, { world, isSearching }: Job): Promise<CaseResult> {
  beginReadings(world)
  const loading = loadingOf(one.module)
  const load = (): Promise<unknown> => import(one.module)
  const exported = await (isSearching ? insideBlock(loading, load) : load())
  const block = blockIn(exported, one)
  if (block === undefined) return unendedResult(`${one.export} of ${one.module} is no block`)
  const execution = new Execution('block')
  const keys = new Execution('block')
  const input = world.isReversed ? reversed(one.input ?? null) : (one.input ?? null)
  const tape = (one.tape ?? []).map((entry) => ({ ...entry }))
  const execute = async (watching: Execution, isWatchingKeys = false): Promise<OnceResult> => {
    beginReadings(world)
    const code = watched(block, watching, isWatchingKeys)
    return checkOnce(code, { input, state: one.state ?? {}, tape })
  }
  const searched = isSearching ? await search(one, block, () => execute(keys, true)) : undefined
  const first = await execute(execution)
  const second = await execute(execution)
  const unended = unendedWhy(first, execution)
  return {
    findings: execution.findings,
    suspects: [
      ...loading.findings.map((found) => ({ ...found, api: `${found.api} when it is loaded` })),
      ...keys.findings.filter(({ kind }) => kind === 'order of keys'),
      ...(searched?.changed ?? [])
    ],
    ...(searched?.place === undefined ? {} : { place: searched.place }),
    first: canonicalize(first),
    second: canonicalize(second),
    ...(unended === undefined ? {} : { unended })
  }
}

/** What modules did while they were loaded; a module is loaded with the first of its blocks. */
const loadings = new Map<string, Execution>()

function loadingOf(module: string): Execution {
  const loading = loadings.get(module) ?? new Execution('loading')
  loadings.set(module, loading)
  return loading
}

async function search(
  one: JobCase,
  block: Block,
  execute: () => Promise<unknown>
): Promise<{ readonly changed: readonly Impurity[]; readonly place: Place | undefined }> {
  // Only here: a process with permissions taken from it may not load what debuggers use.
  const { changedVariables, placeOfCode, variablesAround } = await import('./module-state.js')
  const before = variablesAround(block)
  await execute()
  const file = fileURLToPath(one.module)
  const changed = changedVariables(before, variablesAround(block), file)
  return { changed, place: placeOfCode(block, file) }
}

function watched(block: Block, execution: Execution, isWatchingKeys: boolean): Block {
  return {
    ...block,
    async run(ctx, input) {
      try {
        const given = isWatchingKeys ? watchedKeys(input) : input
        return await insideBlock(execution, () => block.run(ctx, given))
      } catch (error) {
        noteRefusal(execution, error)
        throw error
      }
    }
  }
}

function unendedWhy({ executed }: OnceResult, { refused }: Execution): string | undefined {
  if (executed.kind === 'diverged') {
    const { field, signed, computed } = executed.finding
    return `${field}: ${computed}; given: ${signed}`
  }
  if (executed.outcome.ok || refused === undefined) return undefined
  return `it failed where ${refused} is refused`
}

function blockIn(exported: unknown, { export: name, block }: JobCase): Block | undefined {
  if (typeof exported !== 'object' || exported === null) return undefined
  const value: unknown = Reflect.get(exported, name)
  if (isBlock(value)) return block === undefined || value.name === block ? value : undefined
  if (typeof value !== 'object' || value === null) return undefined
  return Object.values(value).find(
    (member): member is Block => isBlock(member) && member.name === block
  )
}

function isBlock(value: unknown): value is Block {
  if (typeof value !== 'object' || value === null) return false
  return typeof Reflect.get(value, 'run') === 'function' && 'codeHash' in value
}
