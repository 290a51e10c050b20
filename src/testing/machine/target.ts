import type { CompiledDocument } from '../../block/index.js'
import { type Block, isBlock, type Workflow } from '../../code/index.js'
import {
  canonicalize,
  isJsonObject,
  type Json,
  readDocument,
  testingError
} from '../../core/index.js'
import { Compilations, type DocumentRoom, type Registrations } from '../../runtime/index.js'
import type { ChartTarget } from './chart-target.js'
import { type FunctionTarget, isFunctionTarget, prepareFunctionTarget } from './function-target.js'
import type { HostedPackages } from './guests.js'
import {
  declaredInputs,
  hostPackages,
  OF_PACKAGES,
  type PackageSource,
  type PackageTarget,
  packageDocument,
  packageEffects
} from './package-target.js'
import type { PreparedTarget, TakenInputs } from './prepared-target.js'
import { probeRuntime } from './probe.js'
import { loadRoomWorlds } from './world-parts.js'
import { writtenTarget } from './written-target.js'

/** A document and what it names, as `defineConfig` takes it. */
export interface DocumentTarget extends Registrations {
  readonly document: string | Json
  /** Installed, and granted what they declare, before a run begins. */
  readonly packages?: readonly PackageSource[]
}

/**
 * A block, a workflow in code or a machine of XState by itself, or a document or such a workflow
 * with what it names.
 */
export type MachineTarget = OneTarget | (() => OneTarget)

/** A function makes it anew for each life, so that what code keeps in memory dies with it. */
type OneTarget = DocumentedTarget | Workflow | FunctionTarget

/** What is played as a document. */
type DocumentedTarget =
  | Block
  | DocumentTarget
  | PackageTarget
  | ChartTarget
  | ChartTarget['machine']

const supported = ['tally-composite/', 'tally-plan/', 'ais-']

/**
 * `next` is what is registered after a redeploy. Throws `testing.target_unsupported`,
 * `testing.target_invalid`.
 */
export async function prepareTarget(
  target: MachineTarget,
  next: Registrations = {}
): Promise<PreparedTarget> {
  const one = () => (typeof target === 'function' ? target() : target)
  if (isFunctionTarget(one())) {
    return prepareFunctionTarget(() => {
      const made = one()
      if (isFunctionTarget(made)) return made
      throw testingError('testing.target_invalid', { problem: 'it is another kind each time' })
    })
  }
  return prepareDocument(() => {
    const made = one()
    if (!isFunctionTarget(made)) return made
    throw testingError('testing.target_invalid', { problem: 'it is another kind each time' })
  }, next)
}

async function prepareDocument(
  one: () => DocumentedTarget,
  next: Registrations
): Promise<PreparedTarget> {
  const charts = await chartsFor(one())
  const packed = await packagesFor(one())
  const make = () => asDocument(one(), { charts, packed })
  const { document: source, packages: _, ...registrations } = make()
  const document = readAs(source)
  const compilations = new Compilations()
  const runtime = await probeRuntime(registrations, compilations)
  try {
    const prepared = await runtime.registry.documents.prepare(document)
    if (!prepared.ok) {
      const [first] = prepared.diagnostics
      const at = first === undefined || first.path.length === 0 ? '' : ` (${first.path.join('.')})`
      throw testingError('testing.target_invalid', {
        problem: `${first?.message ?? 'it does not compile'}${at}`
      })
    }
    const { compiled, block, definition, checkInputs } = prepared
    const reached = prepared.reached().blocks.map((one) => runtime.registry.rooms.roomOf(one))
    // A definition is plain JSON by construction; its type only names the members.
    const { inputSchema, ...own } = await worldOf(definition as unknown as Json, new Set(reached))
    const known = entryBlock(compiled, (name) => block(name))
    const schema = packed?.inputSchema ?? known?.inputSchema ?? inputSchema ?? charts?.inputSchema
    const problem = checkInputs === undefined ? refusalBy(known) : firstProblem(checkInputs)
    const { values = [], notChecked = own.notChecked } = charts ?? {}
    const { hosted, notChecked: unchecked = [] } = packed ?? {}
    const rooms = asksRooms(reached, [registrations, next]) ? await loadRoomWorlds() : undefined
    const shared = { compiled, compilations, hosted, rooms }
    return {
      ...{ name: compiled.name, registrations: make, values, ...shared },
      // As text: lives with the same compilations read it once.
      source: { document: canonicalize(document) },
      takes: { schema, problem, open: packed?.open },
      effects: { ...packed?.effects, ...own.effects },
      notChecked: [...notChecked, ...unchecked],
      written: writtenTarget(one(), hosted?.packages ?? []),
      close: async () => hosted?.sandbox.close()
    }
  } finally {
    await runtime.close()
  }
}

const OF_CHAINS =
  'chains: nonces, fees, reorgs, wallets that sign outside, and what contracts compute from state'
const OF_CHARTS =
  'the machine: actions without a name, what it sends to actors, and coverage of its own states'
const OF_AGENTS = 'agents: what models say beyond what cases have, and how long turns take'

/**
 * Whether runs may ask a chain or an agent: what their document reaches does, or what is registered
 * with it may.
 */
function asksRooms(
  reached: readonly (DocumentRoom | undefined)[],
  registered: readonly Registrations[]
): boolean {
  if (reached.some((room) => room !== undefined)) return true
  return registered.some(({ agents, workflow, ...named }) => {
    const { workflows = [], providers = [], composites = [], resolvers = [] } = named
    if (agents !== undefined || workflow !== undefined) return true
    if ([workflows, composites, resolvers].some(({ length }) => length > 0)) return true
    return providers.some(({ name }) => isOfRoom(name))
  })
}

/** By the name of its effect: the rooms that have the names are not loaded to tell. */
export function isOfRoom(effect: string): boolean {
  return ['agent.', 'ais.', 'chain.'].some((prefix) => effect.startsWith(prefix))
}

/** What a definition says of the world; rooms of which it reaches no block are not loaded. */
async function worldOf(
  definition: Json,
  rooms: ReadonlySet<DocumentRoom | undefined>
): Promise<Pick<PreparedTarget, 'effects' | 'notChecked'> & { readonly inputSchema?: Json }> {
  const workflow = rooms.has('workflow')
    ? (await import('./workflow-target.js')).workflowParts(definition)
    : undefined
  const turns = rooms.has('agent') ? (await import('./flow-target.js')).flowEffects(definition) : {}
  const hasTurns = Object.keys(turns).length > 0
  return {
    effects: { ...workflow?.effects, ...turns },
    notChecked: [...(workflow ? [OF_CHAINS] : []), ...(hasTurns ? [OF_AGENTS] : [])],
    // A flow has its prompts in itself.
    ...(workflow ? { inputSchema: workflow.inputSchema } : {}),
    ...(hasTurns ? { inputSchema: { type: 'object' } } : {})
  }
}

function refusalBy(block: Block | undefined): TakenInputs['problem'] {
  return (value) => {
    const parsed = block?.parseInput(value)
    return parsed?.ok === false ? parsed.problem : undefined
  }
}

type CheckInputs = (value: Json) => readonly { readonly name: string; readonly problem: string }[]

function firstProblem(check: CheckInputs): TakenInputs['problem'] {
  return (value) => {
    const [first] = check(value)
    return first === undefined ? undefined : `${first.name}: ${first.problem}`
  }
}

/** The only node of a composite: what it waits for, and how it fails, shows in its chart. */
function asDocument(
  target: DocumentedTarget,
  { charts, packed }: { readonly charts: Charts | undefined; readonly packed: Packed | undefined }
): DocumentTarget {
  const kind = unsupported(target)
  if (kind !== undefined) throw testingError('testing.target_unsupported', { kind })
  if (charts !== undefined) return alone(charts.block(chartOf(target)))
  if (packed?.document !== undefined) return { document: packed.document }
  return isBlock(target) ? alone(target) : (target as DocumentTarget)
}

function alone(block: Block): DocumentTarget {
  const { name } = block
  const node = name.split('.').at(-1) ?? 'block'
  return {
    blocks: [block],
    document: {
      schema: 'tally-composite/1',
      name,
      version: '1.0.0',
      entry_point: node,
      nodes: { [node]: { block: name } }
    }
  }
}

interface Charts extends Pick<PreparedTarget, 'values' | 'notChecked'> {
  block(target: ChartTarget): Block
  readonly inputSchema: Json
}

/** XState is loaded for machines of it. */
async function chartsFor(target: DocumentedTarget): Promise<Charts | undefined> {
  if (unsupported(target) !== undefined || !isChart(target)) return undefined
  const { chartBlock: block, outsideEvents } = await import('./chart-block.js')
  const values = outsideEvents(chartOf(target).machine)
  return { block, values, notChecked: [OF_CHARTS], inputSchema: { type: 'object' } }
}

interface Packed extends Pick<PreparedTarget, 'effects' | 'notChecked'> {
  readonly hosted: HostedPackages
  /** Of a package by itself. */
  readonly document?: Json
  readonly inputSchema?: Json
  readonly open?: string
}

async function packagesFor(target: DocumentedTarget): Promise<Packed | undefined> {
  if (unsupported(target) !== undefined) return undefined
  const isAlone = isPackage(target)
  const sources = isAlone ? [target.package] : 'packages' in target ? (target.packages ?? []) : []
  if (sources.length === 0) return undefined
  const hosted = await hostPackages(sources)
  const packed = { hosted, effects: packageEffects(hosted), notChecked: [OF_PACKAGES] }
  const [one] = hosted.packages
  if (!isAlone || one === undefined) return packed
  const { schema: inputSchema, open } = declaredInputs(one, target.action)
  const document = packageDocument(one)
  return { ...packed, document, inputSchema, ...(open === undefined ? {} : { open }) }
}

function isPackage(target: DocumentedTarget): target is PackageTarget {
  return 'package' in target
}

function isChart(target: DocumentedTarget): target is ChartTarget | ChartTarget['machine'] {
  return 'machine' in target || 'getInitialSnapshot' in target
}

function chartOf(target: DocumentedTarget): ChartTarget {
  return 'machine' in target ? target : { machine: target as ChartTarget['machine'] }
}

function unsupported(target: DocumentedTarget): string | undefined {
  if (typeof target !== 'object' || target === null) return `a ${typeof target}`
  if (isBlock(target) || 'document' in target || isPackage(target)) return undefined
  if (isChart(target)) return undefined
  if ('manifest' in target) return 'the parts of a package'
  return 'an object without a document'
}

function readAs(source: string | Json): Json {
  const document = typeof source === 'string' ? readDocument(source) : source
  const schema = isJsonObject(document) ? document['schema'] : undefined
  if (isFlow(document)) return document
  if (typeof schema === 'string' && supported.some((one) => schema.startsWith(one))) return document
  const kind = typeof schema === 'string' ? `a document ${schema}` : 'a document without a schema'
  throw testingError('testing.target_unsupported', { kind })
}

/** As the agent room tells them: flows have no `schema`. */
function isFlow(document: Json): boolean {
  return isJsonObject(document) && isJsonObject(document['meta']) && 'graph' in document
}

/** The leaf that a run's input goes to unchanged. */
function entryBlock(
  compiled: CompiledDocument,
  block: (name: string) => Block | undefined
): Block | undefined {
  if (compiled.kind === 'plan') return undefined
  const { entry, nodes } = compiled.plan
  const planned = nodes.get(entry)
  if (planned === undefined || planned.input !== null) return undefined
  const child = compiled.nodes.get(entry)
  if (child === undefined) return undefined
  return child.kind === 'leaf' ? block(child.reference) : entryBlock(child, block)
}
