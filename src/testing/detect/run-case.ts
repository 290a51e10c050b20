import { fileURLToPath } from 'node:url'
import { checkOnce, type OnceResult } from '../../block/index.js'
import { type Block, isBlock, isWorkflow } from '../../code/index.js'
import { canonicalize, isJsonObject, referenceTo } from '../../core/index.js'
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
  if (block === undefined) {
    return unendedResult(`${one.export} of ${one.module} is no block and no workflow in code`)
  }
  const execution = new Execution('block')
  const keys = new Execution('block')
  const input = world.isReversed ? reversed(one.input ?? null) : (one.input ?? null)
  const recordedResults = (one.tape ?? []).map((entry) => givenOf(block, entry))
  const execute = async (watching: Execution, isWatchingKeys = false): Promise<OnceResult> => {
    beginReadings(world)
    const code = watched(block, watching, isWatchingKeys)
    return checkOnce(code, { input, state: one.state ?? {}, recordedResults })
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
  const code = block.body ?? block
  const before = variablesAround(code)
  await execute()
  const file = fileURLToPath(one.module)
  const changed = changedVariables(before, variablesAround(code), file)
  return { changed, place: placeOfCode(code, file) }
}

function watched(block: Block, execution: Execution, isWatchingKeys: boolean): Block {
  const { body } = block
  const inside = async (input: unknown, run: (given: unknown) => unknown): Promise<unknown> => {
    try {
      const given = isWatchingKeys ? watchedKeys(input) : input
      return await insideBlock(execution, () => run(given))
    } catch (error) {
      noteRefusal(execution, error)
      throw error
    }
  }
  return {
    ...block,
    run: (ctx, input) => inside(input, (given) => block.run(ctx, given)),
    ...(body && {
      body: { run: (port, input) => inside(input, (given) => body.run(port, given)) }
    })
  }
}

type Given = NonNullable<JobCase['tape']>[number]

/** Code of a workflow is answered with the responses of its steps: the tape has their results. */
function givenOf({ body }: Block, entry: Given): Given {
  const { effect, ok, body: result } = entry
  if (body === undefined || effect !== 'step') return { ...entry }
  const reason = isJsonObject(result) ? (result['reason'] ?? null) : null
  const response = ok
    ? { success: true, data: result, metadata: {} }
    : { success: false, data: null, reason, metadata: {} }
  return { ...entry, ok: true, body: response }
}

function unendedWhy({ executed }: OnceResult, { refused }: Execution): string | undefined {
  if (executed.kind === 'diverged') {
    const { field, signed, computed } = executed.finding
    return `${field}: ${computed}; given: ${signed}`
  }
  if (executed.outcome.ok || refused === undefined) return undefined
  return `it failed where ${refused} is refused`
}

/** A block, or the body of a workflow in code, by the export and its own name. */
function blockIn(exported: unknown, { export: name, block }: JobCase): Block | undefined {
  if (typeof exported !== 'object' || exported === null) return undefined
  const value: unknown = Reflect.get(exported, name)
  const own = codeIn(value)
  if (own !== undefined) return block === undefined || own.name === block ? own : undefined
  if (typeof value !== 'object' || value === null) return undefined
  const all = Object.values(value).flatMap((member) => codeIn(member) ?? [])
  return all.find((member) => member.name === block)
}

function codeIn(value: unknown): Block | undefined {
  if (isWorkflow(value)) {
    const declared = new Map(value.blocks.map((one) => [referenceTo(one.name, one.version), one]))
    return value.body((reference) => declared.get(reference))
  }
  return isBlock(value) ? value : undefined
}
