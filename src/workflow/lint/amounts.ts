import { isJsonObject, type Json } from '../../core/index.js'
import type { Issues } from '../document/issue.js'
import type { AisValue } from '../document/value.js'
import { issuesOf, type LintNode, type LintSubject } from './subject.js'

/** Places where digits of an amount are too many, or a quotient may have no end (W4). */
export function lintAmounts({ nodes }: LintSubject, issues: Issues): void {
  for (const node of nodes) {
    const here = issuesOf(node, issues)
    for (const { value, path, references } of node.values) {
      const amounts = references.some(
        ({ root, path: way }) => root === 'nodes' && way[1] === 'outputs'
      )
      for (const cel of celIn(value)) {
        if (amounts && /\/(?!\/)/.test(withoutTexts(cel))) {
          const message = '/ fails where a quotient does not end; mul_div rounds'
          here.note('precision_loss', message, path)
        }
      }
    }
    lintDecimals(node, here)
  }
}

/** A literal with more decimals than its asset has would fail when it is converted. */
function lintDecimals({ node, callable }: LintNode, issues: Issues): void {
  for (const { name, type, asset_ref: assetRef } of callable.params) {
    if (type !== 'token_amount' || assetRef === undefined) continue
    const amount = literal(node.args[name])
    const asset = literal(node.args[assetRef])
    const decimals = isJsonObject(asset) ? asset['decimals'] : undefined
    if (typeof amount !== 'string' || typeof decimals !== 'number') continue
    const places = (amount.split('.')[1] ?? '').replace(/0+$/, '').length
    if (places <= decimals) continue
    const message = `${amount} has ${places} decimals, but its asset has ${decimals}`
    issues.warn('precision_loss', message, ['args', name])
  }
}

function literal(value: AisValue | undefined): Json | undefined {
  return value !== undefined && 'lit' in value ? value.lit : undefined
}

function celIn(value: AisValue): readonly string[] {
  if ('cel' in value) return [value.cel]
  if ('object' in value) return Object.values(value.object).flatMap(celIn)
  return 'array' in value ? value.array.flatMap(celIn) : []
}

function withoutTexts(cel: string): string {
  return cel.replace(/"[^"]*"|'[^']*'/g, '')
}
