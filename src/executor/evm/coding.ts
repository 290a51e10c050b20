import type { JsonObject } from '../../core/index.js'
import { InvalidArgument } from '../invalid-argument.js'
import type { Revert } from '../port.js'
import type { AbiError, AbiEvent, AbiFunction } from './abi-types.js'
import type { EvmWrite } from './execution.js'
import { knownErrors } from './known-errors.js'
import { fromAbiValues, toAbiValues } from './values.js'
import type { Hex, Viem } from './viem.js'

/** Call data of a function with named arguments. Throws {@link InvalidArgument}. */
export function encodeCall(viem: Viem, abi: AbiFunction, args: JsonObject, path = 'args'): Hex {
  const values = toAbiValues(viem, abi.inputs, args, path)
  try {
    return viem.encodeFunctionData({ abi: [abi], functionName: abi.name, args: [...values] })
  } catch {
    throw new InvalidArgument(path, `cannot be encoded for ${abi.name}`)
  }
}

/** Results by their names; undefined when the bytes are not what the ABI says. */
export function decodeResult(viem: Viem, abi: AbiFunction, data: Hex): JsonObject | undefined {
  try {
    const values = viem.decodeAbiParameters([...abi.outputs], data)
    return fromAbiValues(abi.outputs, values)
  } catch {
    return undefined
  }
}

const multicall: AbiFunction = {
  type: 'function',
  name: 'multicall',
  inputs: [{ name: 'data', type: 'bytes[]' }],
  outputs: [{ name: 'results', type: 'bytes[]' }],
  stateMutability: 'payable'
}

const multicallUntil: AbiFunction = {
  ...multicall,
  inputs: [{ name: 'deadline', type: 'uint256' }, ...multicall.inputs]
}

/** What a write sends to its contract: a call, or several through the contract's `multicall`. */
export function encodeWrite(viem: Viem, write: EvmWrite): Hex {
  if (write.type === 'evm_call') return encodeCall(viem, write.abi, write.args)
  const data = write.calls.map(({ abi, args }, index) =>
    encodeCall(viem, abi, args, `calls.${index}.args`)
  )
  return write.deadline === undefined
    ? encodeCall(viem, multicall, { data })
    : encodeCall(viem, multicallUntil, { deadline: write.deadline.toString(), data })
}

/** What a write would return. */
export function decodeWrite(viem: Viem, write: EvmWrite, data: Hex): JsonObject | undefined {
  return decodeResult(viem, write.type === 'evm_call' ? write.abi : multicall, data)
}

/** Why a contract refused: custom errors by name and arguments, texts, panics. */
export function decodeRevert(
  viem: Viem,
  data: string | undefined,
  errors: readonly AbiError[],
  nodeMessage = ''
): Revert {
  const said = nodeMessage === '' ? null : nodeMessage
  if (data === undefined || data.length < 10) {
    return { name: null, args: null, reason: said, data: data ?? null }
  }
  try {
    const abi = [...errors, ...knownErrors]
    const decoded = viem.decodeErrorResult({ abi, data: data as Hex })
    const name = String(decoded.errorName)
    const values: readonly unknown[] = decoded.args ?? []
    if (name === 'Error') return { name, args: null, reason: String(values[0]), data }
    if (name === 'Panic') return panic(values[0], data)
    const fragment = abi.find((one) => one.name === name)
    const args = fragment === undefined ? null : fromAbiValues(fragment.inputs, values)
    return { name, args, reason: null, data }
  } catch {
    return { name: null, args: null, reason: said, data }
  }
}

const panics: Readonly<Record<string, string>> = {
  '1': 'an assertion does not hold',
  '17': 'arithmetic overflow or underflow',
  '18': 'division by zero',
  '33': 'not a value of the enum',
  '34': 'malformed storage',
  '49': 'pop of an empty list',
  '50': 'index out of bounds',
  '65': 'too much memory',
  '81': 'call of an uninitialised function'
}

function panic(code: unknown, data: string): Revert {
  const text = String(code)
  return { name: 'Panic', args: { code: text }, reason: panics[text] ?? 'panic', data }
}

/** An event by its name and arguments; undefined when none of the fragments is that of the log. */
export function decodeEvent(
  viem: Viem,
  events: readonly AbiEvent[],
  log: { readonly topics: readonly string[]; readonly data: string }
): { readonly event: string; readonly args: JsonObject } | undefined {
  for (const fragment of events) {
    try {
      const decoded = viem.decodeEventLog({
        abi: [named(fragment)],
        topics: log.topics as [Hex, ...Hex[]],
        data: log.data as Hex
      })
      const args = (decoded.args ?? {}) as Readonly<Record<string, unknown>>
      const { inputs } = named(fragment)
      const values = inputs.map(({ name }) => args[name])
      return { event: fragment.name, args: fromAbiValues(inputs, values) }
    } catch {
      // Another event.
    }
  }
  return undefined
}

// The coder gives arguments by name only when all have one.
function named(fragment: AbiEvent): AbiEvent {
  const inputs = fragment.inputs.map((input, index) =>
    input.name === '' ? { ...input, name: `arg${index}` } : input
  )
  return { ...fragment, inputs }
}
