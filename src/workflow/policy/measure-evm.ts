import { isJsonObject, type Json, type JsonObject, limits } from '../../core/index.js'
import {
  type AbiParameter,
  parametersOf,
  plainArguments,
  plainParameters,
  selectorOf,
  signatureOf
} from '../../executor/index.js'
import { type CallEffect, type Measured, nativeAsset } from './effect.js'
import { evmCalls, type KnownCall, type Target, valuesOf } from './evm-calls.js'

/** What a write on an EVM chain does: its value, and the effects of the calls that are known. */
export function measureEvm(chain: string, execution: JsonObject): Measured {
  const measuring = new Measuring()
  const { to, value } = execution
  if (!isAddress(to)) return measuring.unknown('a call of no address')
  const target = { chain, address: to.toLowerCase() }
  if (value !== undefined) measuring.value(target, value)
  const calls = execution['type'] === 'evm_multicall' ? execution['calls'] : [execution]
  if (!Array.isArray(calls)) return measuring.unknown(`calls of ${target.address}`)
  for (const call of calls as readonly Json[]) measuring.named(target, call)
  return measuring
}

/** The first function of a write that is not in the table, before its arguments are known. */
export function unknownEvm(execution: object): string | undefined {
  const { calls, abi } = execution as { readonly calls?: Json; readonly abi?: Json }
  const all = Array.isArray(calls) ? (calls as readonly Json[]) : [{ abi: abi ?? null }]
  for (const call of all) {
    const given = functionOf(isJsonObject(call) ? (call['abi'] ?? null) : null)
    const signature = given === undefined ? 'it' : signatureOf(given.name, given.inputs)
    if (given === undefined || knownBy(selectorOf(signature)) === undefined) return signature
  }
  return undefined
}

/** Calls inside calls that are looked into. */
const DEPTH_MAX = 4

/** Owns: what was found so far. */
class Measuring implements Measured {
  readonly effects: CallEffect[] = []
  readonly undecoded: string[] = []
  #calls = 0

  unknown(call: string): this {
    this.undecoded.push(call)
    return this
  }

  /** The native value of the whole transaction. */
  value({ chain, address }: Target, value: Json): void {
    const isWhole = typeof value === 'string' && /^(0|[1-9][0-9]{0,77})$/.test(value)
    if (!isWhole && !(Number.isSafeInteger(value) && Number(value) >= 0)) {
      this.unknown(`a value for ${address}`)
    } else if (BigInt(value as string | number) > 0n) {
      const amount = String(value)
      this.effects.push({ kind: 'transfer', asset: nativeAsset(chain), amount, to: address })
    }
  }

  /** A call with arguments by their names, which is encoded later. */
  named(target: Target, call: Json): void {
    const abi = functionOf(isJsonObject(call) ? (call['abi'] ?? null) : null)
    if (abi === undefined || !isJsonObject(call)) {
      this.unknown(`a call of ${target.address}`)
      return
    }
    const signature = signatureOf(abi.name, abi.inputs)
    const known = knownBy(selectorOf(signature))
    const given = isJsonObject(call['args']) ? call['args'] : {}
    const isSame = known !== undefined && typesOf(known.signature) === typesOf(signature)
    const values = isSame ? plainArguments(abi.inputs, given) : undefined
    if (known === undefined || values === undefined) {
      this.unknown(`${signature} of ${target.address}`)
    } else this.#follow(known, values, target, 0)
  }

  /** A call as its bytes. */
  #encoded(target: Target, data: string, depth: number): void {
    const selector = data.slice(0, 10).toLowerCase()
    const known = knownBy(selector)
    const parameters = known === undefined ? [] : parametersOf(known.signature)
    const values =
      known === undefined ? undefined : plainParameters(parameters, data.slice(10).toLowerCase())
    if (known === undefined || values === undefined) {
      this.unknown(`${selector} of ${target.address}`)
    } else this.#follow(known, values, target, depth)
  }

  #follow(
    known: KnownCall,
    values: Parameters<typeof valuesOf>[0],
    target: Target,
    depth: number
  ): void {
    this.#calls += 1
    const decoded = valuesOf(values)
    const inner = known.inner?.(decoded, target) ?? []
    const isTooMuch = depth >= DEPTH_MAX || this.#calls > limits.CHAIN_CALLS_MAX
    const effects = known.effects === undefined ? [] : known.effects(decoded, target)
    if (isTooMuch || effects === undefined) {
      this.unknown(`${known.signature} of ${target.address}`)
      return
    }
    this.effects.push(...effects)
    for (const { address, data } of inner) {
      this.#encoded({ chain: target.chain, address }, data, depth + 1)
    }
  }
}

function knownBy(selector: string): KnownCall | undefined {
  return Object.hasOwn(evmCalls, selector) ? evmCalls[selector] : undefined
}

/** Of a signature what is not its name. */
function typesOf(signature: string): string {
  return signature.slice(signature.indexOf('('))
}

function isAddress(value: Json | undefined): value is string {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)
}

const functionName = /^[A-Za-z_$][A-Za-z0-9_$]*$/
const functionType = /^(tuple|function|[a-z]+[0-9]*)(\[[0-9]*\]){0,4}$/

/** The function that a call is encoded by, as an object or as its text; undefined: by none. */
function functionOf(
  abi: Json
): { readonly name: string; readonly inputs: readonly AbiParameter[] } | undefined {
  if (!isJsonObject(abi)) return undefined
  const { name, inputs = [] } = abi
  if (typeof name !== 'string' || !functionName.test(name)) return undefined
  if (!Array.isArray(inputs)) return undefined
  const parameters = (inputs as readonly Json[]).map(parameterOf)
  return parameters.every((one) => one !== undefined) ? { name, inputs: parameters } : undefined
}

function parameterOf(value: Json): AbiParameter | undefined {
  if (!isJsonObject(value)) return undefined
  const { name = '', type, components = [] } = value
  if (typeof name !== 'string' || typeof type !== 'string' || !functionType.test(type)) {
    return undefined
  }
  if (!Array.isArray(components)) return undefined
  const own = (components as readonly Json[]).map(parameterOf)
  return own.every((one) => one !== undefined) ? { name, type, components: own } : undefined
}
