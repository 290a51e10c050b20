import type { AisPlan, AisPlanNode } from './plan.js'

/** A Mermaid flowchart of a plan: nodes by chain, edges from what is waited for. */
export function drawPlanMermaid(plan: AisPlan): string {
  const lines = ['flowchart TD']
  const chains = [...new Set(plan.nodes.map(({ chain }) => chain))]
  for (const [index, chain] of chains.entries()) {
    lines.push(`  subgraph chain${index}["${plain(chain)}"]`)
    for (const node of plan.nodes.filter((one) => one.chain === chain)) {
      const [open, close] = node.kind === 'query' ? ['([', '])'] : ['[', ']']
      lines.push(`    ${idOf(node.id)}${open}"${plain(`${node.id}: ${workOf(node)}`)}"${close}`)
    }
    lines.push('  end')
  }
  for (const { id, deps, conditions } of plan.nodes) {
    const arrow = conditions.length > 0 ? '-. if .->' : '-->'
    for (const dep of deps) lines.push(`  ${idOf(dep)} ${arrow} ${idOf(id)}`)
  }
  return `${lines.join('\n')}\n`
}

/**
 * A plan as lines of text: what happens in which order, on which chain, and what each waits for.
 */
export function drawPlanText(plan: AisPlan): string {
  const depth = new Map<string, number>()
  const lines = [`${plan.name} ${plan.version}`]
  for (const node of plan.nodes) {
    const level = Math.max(0, ...node.deps.map((dep) => (depth.get(dep) ?? 0) + 1))
    depth.set(node.id, level)
    const marks = marksOf(node)
    lines.push(`  ${level + 1}. ${node.id}  ${node.kind} ${workOf(node)}  on ${node.chain}`)
    if (node.deps.length > 0) lines.push(`       after ${node.deps.join(', ')}`)
    if (marks.length > 0) lines.push(`       ${marks.join('; ')}`)
  }
  return `${lines.join('\n')}\n`
}

function marksOf(node: AisPlanNode): readonly string[] {
  const { conditions, until, retry, timeoutMs, assert, risk, onError, contracts } = node
  const unknown = contracts.filter(({ address }) => address === null).map(({ name }) => name)
  const most = retry?.maxAttempts === null || retry === null ? '' : `, ${retry.maxAttempts} times`
  return [
    ...(conditions.length === 0 ? [] : ['only if a condition holds']),
    ...(until === null || retry === null
      ? []
      : [`polls every ${retry.intervalMs} ms (${retry.backoff}${most})`]),
    ...(until !== null || retry === null
      ? []
      : [`tries again after ${retry.intervalMs} ms (${retry.backoff}${most})`]),
    ...(timeoutMs === null ? [] : [`at most ${timeoutMs} ms`]),
    ...(assert === null ? [] : ['must hold afterwards']),
    ...(risk === null ? [] : [`risk ${risk.level}`]),
    ...(onError === 'ask' ? [] : [`on error: ${onError}`]),
    ...(unknown.length === 0 ? [] : [`needs the address of ${unknown.join(', ')}`])
  ]
}

function workOf({ source, execution }: AisPlanNode): string {
  const step = source.step === null ? '' : ` (${source.step})`
  return `${source.protocol} ${source.name}${step} [${execution.type}]`
}

// Mermaid ids are words, and texts stand between quotes.
function idOf(id: string): string {
  return `n_${id.replace(/[^A-Za-z0-9]/g, (mark) => `_${mark.charCodeAt(0).toString(16)}_`)}`
}

function plain(text: string): string {
  return text.replace(/["\\\r\n]/g, ' ')
}
