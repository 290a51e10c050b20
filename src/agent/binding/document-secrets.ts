import type { AdapterSettings } from '../adapters/adapter.js'

/**
 * References that documents may have read; `any` is for settings that the program wrote itself, and
 * for flows that are only looked at.
 */
export type DocumentSecrets = readonly string[] | 'any'

/**
 * What is wrong with the secret that a document names, for people. A document is a stranger's
 * text: with a server of its own it could have any secret of this machine sent there. So a program
 * lists what may be named (`agents.documentSecrets`). Unlisted, a document may name only the key
 * that its adapter would be given anyway, and no server beside it.
 */
export function secretProblem(
  { apiKey, baseUrl }: AdapterSettings,
  options: { readonly allowed: DocumentSecrets; readonly usual: readonly string[] }
): string | undefined {
  const { allowed, usual } = options
  if (apiKey === undefined || allowed === 'any' || allowed.includes(apiKey)) return undefined
  const isUsual = usual.includes(apiKey)
  if (isUsual && baseUrl === undefined) return undefined
  const what = isUsual ? `${apiKey} together with a server of its own` : apiKey
  return `the document names ${what}, which is not in agents.documentSecrets of this program`
}
