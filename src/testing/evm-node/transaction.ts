import type { JsonObject } from '../../core/index.js'
import type { Hex, Viem } from './viem.js'

/** A signed transaction, decoded. */
export interface EvmSent {
  readonly hash: Hex
  readonly from: Hex
  readonly nonce: number
  readonly chainId: number | undefined
  /** Empty where it deploys. */
  readonly to: string
  readonly input: Hex
  readonly value: bigint
  readonly gas: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** As nodes show it, but for its place in the chain. */
  readonly shown: JsonObject
}

const types: Readonly<Record<string, Hex>> = { legacy: '0x0', eip2930: '0x1', eip1559: '0x2' }

/** Decodes signed bytes and recovers who has signed them; undefined when they are none. */
export async function decodeTransaction(viem: Viem, raw: string): Promise<EvmSent | undefined> {
  try {
    return await decoded(viem, raw as Hex)
  } catch {
    return undefined
  }
}

async function decoded(viem: Viem, raw: Hex): Promise<EvmSent | undefined> {
  const parsed = viem.parseTransaction(raw)
  const type = types[parsed.type ?? 'legacy']
  const { r, s, v, yParity } = parsed
  if (type === undefined || r === undefined || s === undefined) return undefined
  const none = { r: undefined, s: undefined, v: undefined, yParity: undefined }
  const unsigned = viem.serializeTransaction({ ...parsed, ...none } as never)
  const parity = yParity ?? Number((v ?? 27n) % 2n === 1n ? 0 : 1)
  const signature = { r, s, yParity: parity }
  const hash = viem.keccak256(raw)
  const from = await viem.recoverAddress({ hash: viem.keccak256(unsigned), signature })
  const { chainId, nonce = 0, value = 0n, gas = 0n, data = '0x' } = parsed
  const { gasPrice, maxFeePerGas = gasPrice ?? 0n } = parsed
  const { maxPriorityFeePerGas = gasPrice ?? 0n } = parsed
  const to = parsed.to ?? ''
  const fees =
    gasPrice === undefined
      ? { maxFeePerGas: hex(maxFeePerGas), maxPriorityFeePerGas: hex(maxPriorityFeePerGas) }
      : {}
  const sent = { hash, from, nonce, chainId, to, input: data, value, gas, maxFeePerGas }
  const shown: JsonObject = {
    hash,
    type,
    nonce: hex(nonce),
    from: from.toLowerCase(),
    to: to === '' ? null : to.toLowerCase(),
    input: data,
    value: hex(value),
    gas: hex(gas),
    gasPrice: hex(gasPrice ?? maxFeePerGas),
    ...fees,
    ...(chainId === undefined ? {} : { chainId: hex(chainId) }),
    ...{ r, s, v: hex(v ?? BigInt(parity)), yParity: hex(parity) }
  }
  return { ...sent, maxPriorityFeePerGas, shown }
}

export function hex(value: bigint | number): Hex {
  return `0x${value.toString(16)}`
}
