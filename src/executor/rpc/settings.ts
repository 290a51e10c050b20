import {
  type Environment,
  executorError,
  isSecretReference,
  type Redactor,
  type TallyError
} from '../../core/index.js'
import type { Terms } from '../port.js'
import { secretBehind } from './secret.js'

/** Addresses of endpoints, looked up when they are needed: they may be secrets. */
export type Endpoints = readonly (() => Promise<string | undefined>)[]

/** Name of the signer that is meant when none is named. */
export const DEFAULT_SIGNER = 'default'

/** Checks the endpoints of a chain without a network. */
export function endpointsOf(
  chain: string,
  rpc: readonly string[],
  secrets: { readonly environment: Environment; readonly redactor: Redactor }
): Endpoints {
  if (rpc.length === 0) throw invalidConfiguration(chain, 'it has no endpoint')
  return rpc.map((text) => {
    if (isSecretReference(text)) {
      return async () => {
        const found = await secretBehind(text, secrets)
        return found !== undefined && isAddress(found) ? found : undefined
      }
    }
    if (!isAddress(text)) {
      throw invalidConfiguration(chain, 'an endpoint is no http or https address')
    }
    if (mayHoldKey(text)) {
      const problem = 'an endpoint seems to hold a key; refer to it as env:NAME or file:PATH'
      throw invalidConfiguration(chain, problem)
    }
    return async () => text
  })
}

function isAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

/** Whether some part of an address could be a secret: then it has to be a reference. */
function mayHoldKey(text: string): boolean {
  const { username, password, search, pathname } = new URL(text)
  const parts = pathname.split('/')
  return username !== '' || password !== '' || search !== '' || parts.some((one) => one.length > 16)
}

/** The signers of a chain by their names; a key is behind a reference. */
export function signersOf<Signer extends object>(
  chain: string,
  config: {
    readonly signer?: string | Signer
    readonly signers?: Readonly<Record<string, string | Signer>>
  }
): ReadonlyMap<string, string | Signer> {
  const signers = new Map(Object.entries(config.signers ?? {}))
  if (config.signer !== undefined) signers.set(DEFAULT_SIGNER, config.signer)
  for (const [name, signer] of signers) {
    if (typeof signer === 'string' && !isSecretReference(signer)) {
      const problem = `the signer ${name} is not a reference (env:NAME or file:PATH)`
      throw invalidConfiguration(chain, problem)
    }
  }
  return signers
}

export function termsOf(chain: string, config: Partial<Terms>, defaults: Terms): Terms {
  const given = { ...defaults }
  for (const name of ['confirmations', 'pollMs', 'timeoutMs'] as const) {
    given[name] = positive(chain, name, config[name] ?? defaults[name])
  }
  return given
}

export function positive(chain: string, name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value
  throw invalidConfiguration(chain, `${name} is not a whole number above 0`)
}

export function invalidConfiguration(chain: string, problem: string): TallyError {
  return executorError('executor.invalid_configuration', { chain, problem })
}
