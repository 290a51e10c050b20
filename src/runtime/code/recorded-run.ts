import type { DocumentDefinition, Pins, PlanNodeDefinition, RunStarted } from '../../block/index.js'
import { areObligations, type FunctionDefinition } from '../../code/index.js'
import {
  blockError,
  type Hash,
  isTallyError,
  limits,
  type RunId,
  type TallyError,
  unreachable,
  versionedName
} from '../../core/index.js'
import { isIntentDefinition } from '../../intent/index.js'
import type { NamedCode } from './named-code.js'
import type { Compiled, PinnedTerms, PreparedRun, RunDefinition } from './prepared-run.js'
import type { ReachedCode } from './reached-code.js'
import { isFunctionDefinition } from './workflow-functions.js'

/** What a run that is in the ledger was made of, as far as it is here (B10). */
export type RecordedRun =
  | ({ readonly kind: 'ready'; readonly reached?: () => ReachedCode } & Omit<Compiled, 'ok'>)
  /** Versions that it has pinned, or names in its document, lead nowhere; sorted. */
  | { readonly kind: 'missing'; readonly missing: readonly string[] }
  | {
      readonly kind: 'changed'
      readonly difference: string
      /** All that its hash covers is here, and gives another. */
      readonly isContradicted: boolean
    }

/**
 * What a run can continue with; what is missing counts also where only a step that has not begun
 * names it.
 */
export async function resumable(documents: Documents, started: RunStarted): Promise<RecordedRun> {
  const recorded = await recordedRun(documents, started)
  const missing = started.pins === undefined ? [] : documents.code.missing(started.pins)
  if (recorded.kind !== 'ready' || missing.length === 0) return recorded
  return { kind: 'missing', missing }
}

/** What a run can be done with here. */
export type ReadyRun = RecordedRun & { readonly kind: 'ready' }

/**
 * What a run was made of. Throws `run.code_missing`, `run.definition_changed` where it is not here.
 */
export function readyRun(runId: RunId, recorded: RecordedRun): ReadyRun {
  switch (recorded.kind) {
    case 'ready':
      return recorded
    case 'missing':
      throw blockError('run.code_missing', { runId, missing: recorded.missing.join(', ') })
    case 'changed':
      throw blockError('run.definition_changed', { runId, difference: recorded.difference })
    default:
      return unreachable(recorded)
  }
}

/** Whether a run cannot be done here because of its code. */
export function lacksCode(error: unknown): error is TallyError {
  return isTallyError(error, 'run.code_missing') || isTallyError(error, 'run.definition_changed')
}

interface Documents {
  readonly code: NamedCode
  compileRun(definition: RunDefinition, pinned: PinnedTerms): Promise<PreparedRun>
  /** Hash of a definition by its pins alone; undefined for one that cannot have begun. */
  hashBy(definition: DocumentDefinition | FunctionDefinition, pins: Pins): Promise<Hash | undefined>
}

/**
 * Compiles the definition of a run with the versions that it has pinned. A run of before there were
 * pins has the versions that give its definition hash: they are looked for among what is
 * registered.
 */
export async function recordedRun(documents: Documents, started: RunStarted): Promise<RecordedRun> {
  const { definitionHash, pins, obligations } = started
  if (obligations !== undefined && !areObligations(obligations)) {
    const difference = 'its obligations are none'
    return { kind: 'changed', difference, isContradicted: true }
  }
  // The journal gives back what the runtime has written.
  const definition = started.definition as unknown as RunDefinition
  const prepared = await documents.compileRun(definition, { pins, obligations })
  if (prepared.ok && prepared.root.definitionHash === definitionHash) return ready(prepared)
  const isDocument = !isIntentDefinition(definition) && !isFunctionDefinition(definition)
  if (pins === undefined && isDocument) {
    for (const tried of pinsToTry(definition, documents)) {
      const other = await documents.compileRun(definition, { pins: tried, obligations })
      if (other.ok && other.root.definitionHash === definitionHash) return ready(other)
    }
  }
  const isContradicted = await contradicts(documents, { definition, definitionHash, pins })
  if (prepared.ok || isContradicted) {
    const found = prepared.ok ? `definition ${short(prepared.root.definitionHash)}` : 'another'
    const difference = `${found}, recorded was ${short(definitionHash)}`
    return { kind: 'changed', difference, isContradicted }
  }
  const { missing = [], diagnostics } = prepared
  if (missing.length > 0) return { kind: 'missing', missing }
  const difference = diagnostics[0]?.message ?? 'it does not compile'
  return { kind: 'changed', difference, isContradicted }
}

/**
 * Whether a recorded hash is not that of its definition and pins, which tells without the code;
 * where a document uses others, only their hashes are recorded, and nothing can be said.
 */
async function contradicts(
  documents: Documents,
  recorded: {
    readonly definition: RunDefinition
    readonly definitionHash: Hash
    readonly pins: Pins | undefined
  }
): Promise<boolean> {
  const { definition, definitionHash, pins } = recorded
  if (isIntentDefinition(definition)) return true
  const isFunction = isFunctionDefinition(definition)
  if (!isFunction && (pins === undefined || usesOthers(definition))) return false
  return (await documents.hashBy(definition, pins ?? {})) !== definitionHash
}

function ready({ ok: _, ...prepared }: Compiled): RecordedRun {
  return { kind: 'ready', ...prepared }
}

function short(hash: string): string {
  return hash.slice(0, 12)
}

type Nodes = Readonly<Record<string, Node>> | readonly Node[]
type Node = Pick<PlanNodeDefinition, 'work' | 'recovery'>

function nodesOf(definition: { readonly nodes: Nodes }): readonly Node[] {
  return Object.values<Node>(definition.nodes)
}

/** Whether other documents stand in it, of which only their hash is recorded. */
function usesOthers(definition: { readonly nodes: Nodes }): boolean {
  return nodesOf(definition).some(({ work }) => {
    return work.kind === 'use' || (work.kind === 'composite' && usesOthers(work.graph))
  })
}

/** Every choice of registered versions for the names alone of a document, within a bound. */
function* pinsToTry(definition: DocumentDefinition, documents: Documents): Generator<Pins> {
  const names = { blocks: new Set<string>(), composites: new Set<string>() }
  collect(definition, documents, names)
  const choices = (['blocks', 'composites'] as const).flatMap((kind) =>
    [...names[kind]].map((name) => {
      const first = documents.code.resolve(kind, name)?.version
      const versions = new Set([first, ...documents.code.versions(kind, name)])
      return { kind, name, versions: [...versions].filter((version) => version !== undefined) }
    })
  )
  if (choices.some(({ versions }) => versions.length === 0)) return
  const count = choices.reduce((product, { versions }) => product * versions.length, 1)
  for (let index = 0; index < Math.min(count, limits.PINS_TRIED_MAX); index += 1) {
    let rest = index
    const pins = { blocks: {} as Record<string, string>, composites: {} as Record<string, string> }
    for (const { kind, name, versions } of choices) {
      pins[kind][name] = versions[rest % versions.length] ?? ''
      rest = Math.floor(rest / versions.length)
    }
    yield pins
  }
}

function collectUsed(reference: string, documents: Documents, names: Names): void {
  const { name, version } = versionedName(reference)
  if (version === undefined && names.composites.has(name)) return
  if (version === undefined) names.composites.add(name)
  const { code } = documents
  for (const one of version === undefined ? code.versions('composites', name) : [version]) {
    const used = code.exact('composites', name, one)?.value
    if (used !== undefined) collect(used, documents, names)
  }
}

interface Names {
  readonly blocks: Set<string>
  readonly composites: Set<string>
}

function collect(definition: { readonly nodes: Nodes }, documents: Documents, names: Names): void {
  const add = (found: Set<string>, reference: string) => {
    if (versionedName(reference).version === undefined) found.add(reference)
  }
  for (const { work, recovery } of nodesOf(definition)) {
    for (const step of recovery) {
      if (step.kind === 'fallback') for (const name of step.providers) add(names.blocks, name)
    }
    if (work.kind === 'block') add(names.blocks, work.block)
    else if (work.kind === 'composite') collect(work.graph, documents, names)
    else collectUsed(work.use, documents, names)
  }
}
