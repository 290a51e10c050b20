import type { Json } from '../src/core/index.js'

const plain = /^[ !#-[\]-~]*$/

/** Canonical JSON of values that the benchmark makes: sorted keys, no checks. */
export function canonical(value: Json): string {
  if (typeof value === 'string') return plain.test(value) ? `"${value}"` : JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const object = value as { readonly [key: string]: Json }
  let text = '{'
  for (const key of Object.keys(object).sort()) {
    text += `${text.length === 1 ? '' : ','}"${key}":${canonical(object[key] ?? null)}`
  }
  return `${text}}`
}
