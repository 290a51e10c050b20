import type { JsonObject } from '../../core/index.js'
import { turnFailure } from './failures.js'

/**
 * The base URL of a transport, without a slash at its end. Throws `invalid_settings`, without
 * quoting what it was given: a URL may hold a key.
 */
export function baseUrlOf(baseUrl: string | undefined): string {
  const problem = baseUrlProblem(baseUrl)
  if (problem !== undefined) throw turnFailure('invalid_settings', { problems: [problem] })
  return (baseUrl ?? '').replace(/\/+$/, '')
}

/** What is wrong with a base URL, for people; undefined when it will do. */
export function baseUrlProblem(baseUrl: string | undefined): string | undefined {
  if (baseUrl === undefined || baseUrl === '') return 'baseUrl is missing'
  let url: URL
  try {
    url = new URL(baseUrl)
  } catch {
    return 'baseUrl is not a URL'
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'baseUrl is not an HTTP URL'
  if (url.username !== '' || url.password !== '') {
    return 'baseUrl has a user name or password in it: use apiKey'
  }
  if (url.search !== '' || url.hash !== '') return 'baseUrl has a query or fragment'
  return undefined
}

/** Scheme, host and port: what may be shown of a URL. */
export function endpointOf(baseUrl: string): string {
  return new URL(baseUrl).origin
}

export interface NeededSettings {
  readonly baseUrl?: string
  readonly apiKey?: string
  readonly model?: string
}

/** Throws `invalid_settings` that lists every problem at once. */
export function refuseProblems(problems: readonly string[]): void {
  if (problems.length === 0) return
  const details: JsonObject = { problems: [...problems] }
  throw turnFailure('invalid_settings', details)
}
