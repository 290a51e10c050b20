import { spendWork } from '../../core/index.js'
import { isKnownExecution, type SimpleExecution } from '../document/execution.js'
import type { AisValue } from '../document/value.js'
import type { AisPlanNode } from '../plan/plan.js'

/**
 * What one or more nodes need of a chain, and what has to be known to say so: a node without all
 * that this does not take (W15). Its execution holds nothing but addresses of contracts.
 */
export interface PreflightTarget {
  readonly node: AisPlanNode
  /** Type of the execution that the nodes have. */
  readonly execution: string
  /** Ids of the nodes, each with the one of the workflow that it comes from. */
  readonly of: readonly (readonly [id: string, source: string])[]
}

/** A look at what nodes need, as soon as the results are there that it hangs on. */
export interface PreflightGroup {
  /** Nodes whose results it reads; none: before everything. */
  readonly deps: readonly string[]
  readonly targets: readonly PreflightTarget[]
  /** Nodes that wait for it: those that it is about, and writes that come after its results. */
  readonly before: ReadonlySet<string>
}

/**
 * What is looked at before the nodes of a plan, and when: what nodes certainly need before all of
 * them, what a condition or a result decides as soon as it can be said. Each thing is in one place.
 */
export function preflightGroups(nodes: readonly AisPlanNode[]): readonly PreflightGroup[] {
  if (!nodes.some(({ kind }) => kind === 'action')) return []
  const parts = nodes.flatMap(partsOf)
  const certain = new Set(parts.flatMap((one) => (isCertain(one) ? [one.need] : [])))
  const drafts = new Map<string, Draft>()
  for (const part of parts) {
    // Another node needs the same whatever happens, and it was looked at.
    if (certain.has(part.need) && !isCertain(part)) continue
    const key = part.waitsFor.join(' ')
    const draft = drafts.get(key) ?? { deps: part.waitsFor, targets: new Map() }
    drafts.set(key, draft)
    const text = JSON.stringify([part.need, part.target.node.conditions])
    const known = draft.targets.get(text)
    const { id, source } = part.node
    const of = [id, source.node] as const
    if (known === undefined) draft.targets.set(text, { ...part.target, of: [of] })
    else known.of.push(of)
  }
  return [...drafts.values()]
    .sort((left, right) => Number(left.deps.length > 0) - Number(right.deps.length > 0))
    .map(({ deps, targets }) => {
      const list = [...targets.values()]
      return { deps, targets: list, before: waitingFor(nodes, deps, list) }
    })
}

interface Draft {
  readonly deps: readonly string[]
  readonly targets: Map<string, PreflightTarget & { readonly of: (readonly [string, string])[] }>
}

interface Part {
  readonly node: AisPlanNode
  readonly target: Omit<PreflightTarget, 'of'>
  /** Names what is looked at: the same text is the same thing. */
  readonly need: string
  /** Nodes whose results decide whether, or what, it is; sorted. */
  readonly waitsFor: readonly string[]
}

function isCertain({ target, waitsFor }: Part): boolean {
  return target.node.conditions.length === 0 && waitsFor.length === 0
}

/** The chain that a node needs, and the contracts there, which may be known later. */
function partsOf(node: AisPlanNode): readonly Part[] {
  const { chain, kind } = node
  const execution = node.execution.type
  const addresses = contractsIn(node.execution)
  const text = JSON.stringify(node.conditions)
  const chainPart: Part = {
    node,
    target: { node: pruned(node, [], text), execution },
    need: JSON.stringify([chain, kind, execution]),
    waitsFor: resultsIn(node, text)
  }
  if (addresses.length === 0) return [chainPart]
  const read = JSON.stringify(addresses)
  const bare = pruned({ ...node, conditions: [] }, addresses, read)
  const { params, calculated, contracts } = bare
  const need = JSON.stringify([chain, addresses, params, calculated, contracts])
  const target = { node: pruned(node, addresses, text + read), execution }
  return [chainPart, { node, target, need, waitsFor: resultsIn(node, text + read) }]
}

/** Addresses at which an execution needs code. */
function contractsIn(execution: SimpleExecution): readonly AisValue[] {
  if (!isKnownExecution(execution)) return []
  switch (execution.type) {
    case 'evm_read':
    case 'evm_call':
    case 'evm_multicall':
      return [execution.to]
    case 'evm_multiread':
      return execution.calls.map(({ to }) => to)
    case 'solana_instruction':
      return [execution.program]
    case 'solana_read':
    case 'bitcoin_psbt':
      return []
  }
}

/** A node with what a text reads, its conditions, and the addresses as its execution. */
function pruned(node: AisPlanNode, addresses: readonly AisValue[], text: string): AisPlanNode {
  const { calculated, params, read } = readBy(node, text)
  const contracts = namesBelow('contracts', read)
  return {
    ...node,
    calculated,
    params: params.map((one) => ({ ...one, constraints: null })),
    contracts: node.contracts.filter(({ name }) => isAmong(contracts, name)),
    queries: namesBelow('query', read)?.size === 0 ? {} : node.queries,
    preconditions: [],
    execution: addressesOnly(addresses),
    returns: [],
    assert: null,
    assertMessage: null,
    until: null,
    retry: null,
    timeoutMs: null,
    simulate: false,
    risk: null,
    deps: []
  }
}

/** As the execution of a plugin, whose fields are values. */
function addressesOnly(addresses: readonly AisValue[]): SimpleExecution {
  const fields: unknown = { ...Object.fromEntries(addresses.entries()), type: 'contracts' }
  return fields as SimpleExecution
}

/** The node's own values that a text names, with what these read, and the text of all of it. */
function readBy(
  { calculated, params }: AisPlanNode,
  text: string
): Pick<AisPlanNode, 'calculated' | 'params'> & { readonly read: string } {
  let read = text
  const fields: AisPlanNode['calculated'][number][] = []
  // Each field reads only fields before it.
  for (const field of [...calculated].reverse()) {
    if (!isAmong(namesBelow('calculated', read), field.name)) continue
    fields.unshift(field)
    read += JSON.stringify(field.value)
  }
  const names = namesBelow('params', read)
  const own = params.filter(({ name }) => isAmong(names, name))
  read += JSON.stringify(own.map(({ value }) => value))
  return { calculated: fields, params: own, read }
}

/** Nodes before this one whose results a text of it reads, or something that the text reads. */
function resultsIn(node: AisPlanNode, text: string): readonly string[] {
  if (node.deps.length === 0) return []
  const { read } = readBy(node, text)
  const isOfOthers = ['query', 'steps'].some((root) => namesBelow(root, read)?.size !== 0)
  if (isOfOthers) return node.deps
  const names = namesBelow('nodes', read)
  return node.deps.filter((id) => isAmong(names, id) || isAmong(names, id.split('__')[0] ?? id))
}

/**
 * The first names of the paths below a root that stand in values written as JSON; undefined: any
 * may be read. One too many costs little, and one that is missing would cost a look.
 */
function namesBelow(root: string, text: string): ReadonlySet<string> | undefined {
  spendWork(1 + (text.length >> 7))
  const names = new Set<string>()
  const path = new RegExp(
    `(?<![.\\w])${root}\\b(?:\\.([\\w-]+)|\\[\\\\?["']([\\w-]+)\\\\?["']\\])?`,
    'g'
  )
  for (const [, plain, quoted] of text.matchAll(path)) {
    const name = plain ?? quoted
    if (name === undefined) return undefined
    names.add(name)
    // In CEL it is a subtraction.
    names.add(name.split('-')[0] ?? name)
  }
  return names
}

function isAmong(names: ReadonlySet<string> | undefined, name: string): boolean {
  return names?.has(name) ?? true
}

/** The nodes of a group, and each first write that begins when the group's results are there. */
function waitingFor(
  nodes: readonly AisPlanNode[],
  deps: readonly string[],
  targets: readonly PreflightTarget[]
): ReadonlySet<string> {
  if (deps.length === 0) return new Set(nodes.flatMap((one) => (one.deps.length > 0 ? [] : one.id)))
  const before = new Set(targets.flatMap(({ of }) => of.map(([id]) => id)))
  spendWork(nodes.length * (1 + deps.length))
  const behind = new Set(before)
  const reached = new Map<string, ReadonlySet<string>>()
  for (const node of nodes) {
    const own = deps.includes(node.id) ? [node.id] : []
    const found = new Set([...own, ...node.deps.flatMap((id) => [...(reached.get(id) ?? [])])])
    if (found.size > 0) reached.set(node.id, found)
    if (node.deps.some((id) => behind.has(id))) behind.add(node.id)
    else if (node.kind === 'action' && found.size === deps.length && own.length === 0) {
      before.add(node.id)
      behind.add(node.id)
    }
  }
  return before
}
