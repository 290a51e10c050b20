import type { Json } from '../core/index.js'

const label = /^[\w.:-]{1,64}$/

/** A reason is a stable label (B5); of what is none, it says that something failed. */
export function labelOf(reason: unknown): string {
  return typeof reason === 'string' && label.test(reason) ? reason : '_OTHER'
}

/** Why an effect failed, as it was sealed. */
export function reasonIn(body: Json): Json | undefined {
  return memberOf(body, 'reason')
}

const actions: ReadonlySet<unknown> = new Set(['approve', 'deny', 'resume', 'timeout'])

/** How a wait was answered, as it was sealed; its value is no part of it. */
export function actionIn(body: Json): string {
  const action = memberOf(body, 'action')
  return typeof action === 'string' && actions.has(action) ? action : 'over'
}

function memberOf(body: Json, name: string): Json | undefined {
  return typeof body === 'object' && body !== null && !Array.isArray(body)
    ? (body as { readonly [name: string]: Json })[name]
    : undefined
}
