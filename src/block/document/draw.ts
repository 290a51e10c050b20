import type { ChartNode, ChartTransition } from '../../../machines/composite.js'
import type { PlanLibrary } from '../chart/plan-progress.js'
import type { CompiledDocument } from './compiled.js'

/** Chart text for people and for Stately's tools, made from the chart's JSON alone. */

/**
 * A Mermaid `stateDiagram-v2` of a composite's graph: one state per node, edges with their
 * conditions. READY, BUSY and WAITING are left out; {@link drawChart} draws them all.
 */
export function drawMermaid(config: ChartNode): string {
  const nodes = config.states?.['BUSY']?.states ?? {}
  const lines = ['stateDiagram-v2']
  const entry = config.states?.['READY']?.on?.['block.execute']?.[0]?.target
  if (entry !== undefined) lines.push(`  [*] --> ${mermaidId(nodeOf(entry))}`)
  for (const [key, state] of Object.entries(nodes)) {
    if (!key.startsWith('n:')) continue
    const name = key.slice(2)
    lines.push(`  state "${name}" as ${mermaidId(name)}`)
    for (const { target, guard } of state.states?.['run']?.on?.['block.settled'] ?? []) {
      if (target === undefined) continue
      if (target.startsWith('#n:')) {
        lines.push(`  ${mermaidId(name)} --> ${mermaidId(nodeOf(target))}${labelOf(guard)}`)
      } else if (target === '#ready' || target === '#commit') {
        lines.push(`  ${mermaidId(name)} --> [*]`)
      }
    }
  }
  return `${lines.join('\n')}\n`
}

/** A Mermaid `stateDiagram-v2` of every state and transition of a chart, `always` included. */
export function drawChart(config: ChartNode): string {
  const lines = ['stateDiagram-v2']
  const ids = new Map<string, string>()
  collectIds(config, config.id ?? 'chart', ids)
  drawState(config, config.id ?? 'chart', ids, lines, 1)
  return `${lines.join('\n')}\n`
}

/**
 * Source text of a machine that Stately's editor imports and XState runs. What the chart's guards
 * and actions do is the runtime's: here actions do nothing, and an event says which guards hold.
 */
export function drawSource(config: ChartNode): string {
  const { guards, actions } = namesIn(config)
  return [
    "import { createMachine } from 'xstate'",
    '',
    '// A guard holds when the event names it, alone or with its parameters:',
    "//   { type: 'block.settled', $take: 'childFails' }",
    "//   { type: 'block.settled', $take: [{ type: 'takesBranch', params: { branch: 1 } }] }",
    'const holds = (name) => ({ event }, params) =>',
    '  [event.$take ?? []].flat().some((taken) => {',
    '    if (typeof taken === "string") return taken === name',
    '    const wanted = Object.entries(taken.params ?? {})',
    '    return taken.type === name && wanted.every(([key, value]) => params?.[key] === value)',
    '  })',
    '',
    `export const m = createMachine(${JSON.stringify(config, null, 2)}, {`,
    '  guards: {',
    ...guards.map((name) => `    ${JSON.stringify(name)}: holds(${JSON.stringify(name)}),`),
    '  },',
    '  actions: {',
    ...actions.map((name) => `    ${JSON.stringify(name)}() {},`),
    '  }',
    '})',
    ''
  ].join('\n')
}

interface Names {
  readonly guards: readonly string[]
  readonly actions: readonly string[]
}

/** Names of all guards and actions of a chart, sorted. */
function namesIn(config: ChartNode): Names {
  const guards = new Set<string>()
  const actions = new Set<string>()
  for (const { guard, actions: done = [] } of transitionsIn(config)) {
    if (guard !== undefined) guards.add(nameOf(guard))
    for (const action of done) actions.add(nameOf(action))
  }
  return { guards: [...guards].sort(), actions: [...actions].sort() }
}

function* transitionsIn(state: ChartNode): Generator<ChartTransition> {
  for (const list of Object.values(state.on ?? {})) yield* list
  yield* state.always ?? []
  for (const child of Object.values(state.states ?? {})) yield* transitionsIn(child)
}

function nameOf(reference: NonNullable<ChartTransition['guard']>): string {
  return typeof reference === 'string' ? reference : reference.type
}

function drawState(
  state: ChartNode,
  path: string,
  ids: ReadonlyMap<string, string>,
  lines: string[],
  depth: number
): void {
  const indent = '  '.repeat(depth)
  for (const [key, child] of Object.entries(state.states ?? {})) {
    const inner = `${path}.${key}`
    lines.push(`${indent}state "${key}" as ${mermaidId(inner)}`)
    if (child.states === undefined) continue
    lines.push(`${indent}state ${mermaidId(inner)} {`)
    drawState(child, inner, ids, lines, depth + 1)
    lines.push(`${indent}}`)
  }
  const from = depth === 1 ? undefined : mermaidId(path)
  for (const [key, child] of Object.entries(state.states ?? {})) {
    const inner = `${path}.${key}`
    for (const [event, list] of Object.entries(child.on ?? {})) {
      edges(inner, event, list, ids, lines, indent)
    }
    edges(inner, 'always', child.always ?? [], ids, lines, indent)
  }
  if (state.initial !== undefined && from !== undefined) {
    lines.push(`${indent}[*] --> ${mermaidId(`${path}.${state.initial}`)}`)
  }
}

function edges(
  source: string,
  event: string,
  list: readonly ChartTransition[],
  ids: ReadonlyMap<string, string>,
  lines: string[],
  indent: string
): void {
  for (const { target, guard } of list) {
    if (target === undefined) continue
    const to = ids.get(target) ?? source
    const condition = guard === undefined ? '' : ` [${guardName(guard)}]`
    lines.push(`${indent}${mermaidId(source)} --> ${mermaidId(to)} : ${event}${condition}`)
  }
}

// `#id` and `#id.child` are how the charts name targets.
function collectIds(state: ChartNode, path: string, ids: Map<string, string>): void {
  const name = state.id
  if (name !== undefined) ids.set(`#${name}`, path)
  for (const [key, child] of Object.entries(state.states ?? {})) {
    collectIds(child, `${path}.${key}`, ids)
    if (name === undefined) continue
    ids.set(`#${name}.${key}`, `${path}.${key}`)
    for (const inner of Object.keys(child.states ?? {})) {
      ids.set(`#${name}.${key}.${inner}`, `${path}.${key}.${inner}`)
    }
  }
}

function nodeOf(target: string): string {
  return target.replace(/^#n:/, '').replace(/\..*$/, '')
}

function labelOf(guard: ChartTransition['guard']): string {
  if (guard === undefined) return ''
  const text = guardName(guard).replace(/[:;#\r\n]/g, ' ')
  return ` : ${text}`
}

function guardName(guard: NonNullable<ChartTransition['guard']>): string {
  if (typeof guard === 'string') return guard
  const condition = guard.params['condition']
  return condition === undefined ? guard.type : String(condition)
}

// Mermaid ids are words; two names never share one.
export function mermaidId(name: string): string {
  return `s_${name.replace(/[^A-Za-z0-9]/g, (mark) => `_${mark.charCodeAt(0).toString(16)}_`)}`
}

/**
 * A document's graph as Mermaid text: of a composite its transitions, of a plan what needs what.
 */
export function drawGraph(compiled: CompiledDocument): string {
  return compiled.kind === 'plan' ? drawPlan(compiled.plan) : drawMermaid(compiled.config)
}

/** A Mermaid `flowchart`: an arrow from each node to those that wait for it. */
function drawPlan({ nodes }: PlanLibrary): string {
  const lines = ['flowchart TD']
  for (const { name } of nodes) lines.push(`  ${mermaidId(name)}["${name}"]`)
  for (const { name, deps } of nodes) {
    for (const dep of deps) {
      lines.push(`  ${mermaidId(nodes[dep]?.name ?? '')} --> ${mermaidId(name)}`)
    }
  }
  return `${lines.join('\n')}\n`
}
