import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import { error, type FlowFinding, type FlowFindingCode } from '../flow/finding.js'
import type { ApprovalRequirement } from '../flow/schema.js'
import type { BoundAgent } from '../turn/agent.js'
import type { BoundTool } from '../turn/tool.js'
import type { BindingHost } from './bind.js'
import { knownSettings } from './settings.js'

/**
 * What documents may choose of a host, the owner's like an agent's (K15). A member
 * that is absent bounds nothing.
 */
export interface DocumentBounds {
  /**
   * The least by which a person is asked before a tool: `approvalRequirement` of a document is this
   * or stricter. An adapter that does tools itself asks no person, and is refused then.
   */
  readonly approvalRequirement?: Exclude<ApprovalRequirement, 'never'>
  /** Kinds of adapters. */
  readonly adapters?: readonly string[]
  /** Base URLs that documents may name, with all that lies below; `[]`: none. */
  readonly servers?: readonly string[]
  /** Names of tools. An adapter that does tools itself is refused then. */
  readonly tools?: readonly string[]
  /** Kinds of loaders: `loader.local-dir`, `loader.work-dir`, `loader.http-auth`. */
  readonly loaders?: readonly string[]
}

type Path = readonly (string | number)[]

export interface BoundedHost extends BindingHost {
  readonly bounds?: DocumentBounds
  /**
   * The document is another's than the owner's: a person is asked before what destroys, unless the
   * host says more. Adapters that do tools themselves are the host's affair.
   */
  readonly isForeign?: true
}

/** What the payload of a turn chooses, as a definition has it, and the host does not allow. */
export function turnProblems(
  payload: Json | undefined,
  host: BoundedHost,
  path: Path
): readonly FlowFinding[] {
  const { isForeign, bounds = isForeign && {} } = host
  if (bounds === undefined) return []
  const { agent, delegates } = written(payload, ['agent', 'delegates'])
  if (!isJsonObject(agent) || !(delegates === undefined || isJsonObject(delegates))) {
    const message = 'its agents are not written out, and this host bounds what agents may choose'
    return [error('turn_not_written_out', path, message)]
  }
  return [agent, ...Object.values(delegates ?? {})].flatMap((one) =>
    // A document may write what it likes here: each member is looked at as what it is.
    agentProblems((isJsonObject(one) ? one : {}) as Partial<BoundAgent>, { host, bounds, path })
  )
}

/** The same of a loader. */
export function loaderProblems(
  payload: Json | undefined,
  { bounds }: BoundedHost,
  path: Path
): readonly FlowFinding[] {
  if (bounds?.loaders === undefined) return []
  const { load } = written(payload, ['load'])
  if (load === undefined) {
    const message = 'what it loads is not written out, and this host bounds loaders'
    return [error('loader_not_allowed', path, message)]
  }
  const kind = isJsonObject(load) ? load['kind'] : null
  const name = kind === 'files' ? 'local-dir' : kind === 'names' ? 'work-dir' : 'http-auth'
  return unlisted(bounds.loaders, `loader.${name}`, { code: 'loader_not_allowed', path })
}

/** Members of a payload whose text is all there is to them. */
function written(payload: Json | undefined, names: readonly string[]): Record<string, Json> {
  if (!isJsonObject(payload)) return {}
  const { lit, object } = payload
  const given = (name: string): Json | undefined => {
    if (isJsonObject(lit)) return own(lit, name)
    const value = isJsonObject(object) ? own(object, name) : undefined
    return isJsonObject(value) ? own(value, 'lit') : undefined
  }
  const entries = names.flatMap((name) => {
    const value = given(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  // A member that is computed is unlike one that is absent.
  const computed = isJsonObject(object)
    ? names.filter((name) => own(object, name) !== undefined && given(name) === undefined)
    : []
  return Object.fromEntries([...entries, ...computed.map((name) => [name, 'computed'] as const)])
}

function own(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

interface Asked {
  readonly host: BoundedHost
  readonly bounds: DocumentBounds
  readonly path: Path
}

function agentProblems(agent: Partial<BoundAgent>, asked: Asked): readonly FlowFinding[] {
  const { bounds, path } = asked
  const { adapterKind = '', adapterConfig = {} } = agent
  const tools = Array.isArray(agent.tools) ? (agent.tools as readonly BoundTool[]) : []
  return [
    ...unlisted(bounds.adapters, adapterKind, { code: 'adapter_not_allowed', path }),
    ...serverProblems(adapterConfig.baseUrl, asked),
    ...tools.flatMap(({ name }) =>
      unlisted(bounds.tools, name, { code: 'tool_not_allowed', path })
    ),
    ...approvalProblems(agent, tools, asked)
  ]
}

function unlisted(
  allowed: readonly string[] | undefined,
  name: string,
  { code, path }: { readonly code: FlowFindingCode; readonly path: Path }
): readonly FlowFinding[] {
  if (allowed === undefined || allowed.includes(name)) return []
  const message = `${name} is not allowed by this host; ${listOf(allowed)}`
  return [error(code, path, message)]
}

function listOf(allowed: readonly string[]): string {
  return `allowed are: ${allowed.join(', ') || 'none'}`
}

function serverProblems(baseUrl: unknown, { bounds, path }: Asked): readonly FlowFinding[] {
  const { servers } = bounds
  if (servers === undefined || baseUrl === undefined) return []
  if (servers.some((server) => isBelow(String(baseUrl), server))) return []
  const message = `this host allows no server ${baseUrl}; ${listOf(servers)}`
  return [error('server_not_allowed', path, message)]
}

function isBelow(given: string, allowed: string): boolean {
  if (!URL.canParse(given) || !URL.canParse(allowed)) return false
  const [one, other] = [new URL(given), new URL(allowed)]
  const directory = other.pathname.replace(/\/*$/, '/')
  const isSame = one.protocol === other.protocol && one.host === other.host
  return isSame && one.username === '' && `${one.pathname}/`.startsWith(directory)
}

function approvalProblems(
  agent: Partial<BoundAgent>,
  tools: readonly BoundTool[],
  { host, bounds, path }: Asked
): readonly FlowFinding[] {
  const { approvalRequirement: said } = bounds
  const floor = said ?? (host.isForeign === true ? 'destructive_only' : undefined)
  if (floor === undefined && bounds.tools === undefined) return []
  if (doesToolsItself(agent, host)) {
    if (said === undefined && bounds.tools === undefined) return []
    const message = `${agent.adapterKind} does tools itself: this host cannot bound them`
    const code = floor === undefined ? 'tool_not_allowed' : 'approval_below_floor'
    return [error(code, path, message)]
  }
  if (floor === undefined) return []
  const fix = `this host asks a person at least ${floor === 'always' ? floor : 'before writes'}`
  const unasked = tools.filter(({ name, needsApproval }) => {
    if (needsApproval === true) return false
    const tool = host.tool(name)
    return floor === 'always' || (tool?.isDestructive ?? tool?.sideEffects !== 'none')
  })
  return unasked.map(({ name }) => {
    const message = `${agent.agentId ?? 'an agent'} may use ${name} without asking; ${fix}`
    return error('approval_below_floor', path, message)
  })
}

/** What the adapter says, not what the document does. */
function doesToolsItself(agent: Partial<BoundAgent>, host: BoundedHost): boolean {
  const { adapterKind = '', adapterConfig = {} } = agent
  if (!host.adapters.has(adapterKind)) return false
  const adapter = host.adapters.adapter(adapterKind)
  const configured = { settings: adapterConfig, sources: {} }
  return adapter.runsTools?.(knownSettings(configured, adapter, host.environment)) ?? false
}
