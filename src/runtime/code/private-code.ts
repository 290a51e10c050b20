import type { RunRecording } from '../../audit/index.js'
import type { RunStarted } from '../../block/index.js'
import type { Block } from '../../code/index.js'
import { isJsonObject } from '../../core/index.js'
import { isIntentDefinition } from '../../intent/index.js'
import { executedFor, keepsPrivate } from './reached-code.js'
import type { RecordedRun } from './recorded-run.js'
import type { Registry } from './registry.js'

/** What keeps a recorded run out of files, as far as it is known. */
export interface RunPrivacy {
  /** What has declared its input or result private, and may have been executed; sorted. */
  readonly declared: readonly string[]
  /** Why it is not known whether there is more; empty where it is known. */
  readonly unknown: readonly string[]
  /** Both in words; undefined where nothing is private. */
  readonly problem: string | undefined
}

type Code = Pick<Registry, 'recorded' | 'block' | 'blocks'>
type Entries = RunRecording['entries']

/**
 * Who keeps inputs or results of a run private. All code counts that the run can come to: an
 * attempt that failed or is open leaves no receipt that would tell. So does what receipts, and
 * steps of atomic composites, say of themselves: a declaration may have been taken back.
 */
export async function privacyOf({ entries }: RunRecording, code: Code): Promise<RunPrivacy> {
  // A recording begins with it; what does not fit is for a replay to find.
  const started = entries[0]?.entry as unknown as RunStarted
  const recorded = await code.recorded(started)
  const blocks = [...performers(entries, code), ...reached(recorded, { started, entries, code })]
  const declared = blocks.filter(keepsPrivate).map(({ name, version }) => `${name}@${version}`)
  const all = declared.length > 0 ? declared : marked(entries)
  const found = { declared: [...new Set(all)].sort(), unknown: unknownIn(recorded) }
  return { ...found, problem: problemOf(found) }
}

function problemOf({ declared, unknown }: Omit<RunPrivacy, 'problem'>): string | undefined {
  if (declared.length > 0) return `${declared.join(', ')} declares its input or result private`
  if (unknown.length === 0) return undefined
  return `what it keeps private is not known, since ${unknown.join(', ')}`
}

function unknownIn(recorded: RecordedRun): readonly string[] {
  if (recorded.kind === 'ready') return []
  if (recorded.kind === 'changed') return [`its definition is another: ${recorded.difference}`]
  return recorded.missing.map((name) => `${name} is not registered`)
}

/** Blocks that a run can come to, those that may be asked for its intents too. */
function reached(
  recorded: RecordedRun,
  { started, entries, code }: { started: RunStarted; entries: Entries; code: Code }
): readonly Block[] {
  if (recorded.kind !== 'ready') return []
  const { definition } = started
  if (!isIntentDefinition(definition)) {
    const known = recorded.reached?.()
    return known === undefined ? [] : executedFor(known, code.blocks())
  }
  // What a person gives an attempt instead of its input may be another intent.
  const computesIntents = entries.some(
    ({ entry }) => isJsonObject(entry) && (entry['patch'] ?? null) !== null
  )
  return executedFor({ blocks: [], intents: [definition], computesIntents }, code.blocks())
}

/** Blocks that have done the intents of a run. */
function performers(entries: Entries, code: Code): readonly Block[] {
  return entries.flatMap(({ entry }) => {
    const provider = isJsonObject(entry) ? entry['provider'] : undefined
    const id = isJsonObject(provider) ? provider['id'] : undefined
    const block = typeof id === 'string' ? code.block(id) : undefined
    return block === undefined ? [] : [block]
  })
}

/** What a ledger itself marks as private, by the names that its records have. */
function marked(entries: Entries): readonly string[] {
  return entries.flatMap(({ entry, receipt }) => {
    const { overlay, path } = isJsonObject(entry) ? entry : {}
    const isStep = isJsonObject(overlay) && overlay['isPrivate'] === true
    // Compensations are private since they hold what another block may keep private.
    const isSealed = receipt?.isPrivate === true && receipt.record.intent !== COMPENSATION
    return [...(isStep ? [String(path)] : []), ...(isSealed ? [receipt.record.dappId] : [])]
  })
}

const COMPENSATION = 'tally.compensation'
