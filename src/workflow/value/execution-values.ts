import type { DocumentPath, Json, JsonObject } from '../../core/index.js'
import { type AbiFunction, isKnownExecution, type SimpleExecution } from '../document/execution.js'
import type { AisValue } from '../document/value.js'

/** A value of an execution and where it stands there. */
export interface PlacedValue {
  readonly path: DocumentPath
  readonly value: AisValue
  /** Says whether a call of a batch is made, rather than with what. */
  readonly isCondition: boolean
}

/** Every value of an execution. */
export function executionValues(execution: SimpleExecution): readonly PlacedValue[] {
  const found: PlacedValue[] = []
  mapExecution(execution, (value, path) => {
    found.push({ path, value, isCondition: path.at(-1) === 'condition' })
    return null
  })
  return found
}

/**
 * The execution with each of its values replaced by what `resolve` gives; undefined leaves a field
 * out.
 */
export function mapExecution(
  execution: SimpleExecution,
  resolve: (value: AisValue, path: DocumentPath) => Json | undefined
): JsonObject {
  const at = (value: AisValue | undefined, ...path: DocumentPath) =>
    value === undefined ? undefined : resolve(value, path)
  const record = (values: Readonly<Record<string, AisValue>>, ...path: DocumentPath) =>
    present(Object.entries(values).map(([key, value]) => [key, resolve(value, [...path, key])]))
  if (!isKnownExecution(execution)) {
    const { type, method, ...values } = execution
    return {
      ...present([
        ['type', type],
        ['method', method]
      ]),
      ...record(values as never)
    }
  }
  switch (execution.type) {
    case 'evm_read':
    case 'evm_call':
      return present([
        ['type', execution.type],
        ['to', at(execution.to, 'to')],
        ['abi', abiJson(execution.abi)],
        ['args', record(execution.args, 'args')],
        ['value', execution.type === 'evm_call' ? at(execution.value, 'value') : undefined]
      ])
    case 'evm_multiread':
      return present([
        ['type', execution.type],
        ['method', execution.method],
        [
          'calls',
          execution.calls.map(({ id, to, abi, args }, index) =>
            present([
              ['id', id],
              ['to', at(to, 'calls', index, 'to')],
              ['abi', abiJson(abi)],
              ['args', record(args, 'calls', index, 'args')]
            ])
          )
        ]
      ])
    case 'evm_multicall':
      return present([
        ['type', execution.type],
        ['to', at(execution.to, 'to')],
        [
          'calls',
          execution.calls.flatMap(({ abi, args, condition }, index) => {
            if (at(condition, 'calls', index, 'condition') === false) return []
            const given = record(args, 'calls', index, 'args')
            return [
              present([
                ['abi', abiJson(abi)],
                ['args', given]
              ])
            ]
          })
        ],
        ['deadline', at(execution.deadline, 'deadline')]
      ])
    case 'solana_instruction':
      return present([
        ['type', execution.type],
        ['program', at(execution.program, 'program')],
        ['instruction', execution.instruction],
        ['discriminator', execution.discriminator],
        [
          'accounts',
          execution.accounts.map((account, index) =>
            present([
              ['name', account.name],
              ['pubkey', at(account.pubkey, 'accounts', index, 'pubkey')],
              ['signer', account.signer],
              ['writable', account.writable]
            ])
          )
        ],
        ['data', at(execution.data, 'data')],
        ['compute_units', at(execution.compute_units, 'compute_units')],
        [
          'lookup_tables',
          execution.lookup_tables?.flatMap((table, index) => {
            const value = at(table, 'lookup_tables', index)
            return value === undefined ? [] : [value]
          })
        ]
      ])
    case 'solana_read':
      return present([
        ['type', execution.type],
        ['method', execution.method],
        ['params', at(execution.params, 'params')]
      ])
  }
}

/** ABI fragments of an execution. */
export function abisOf(execution: SimpleExecution): readonly AbiFunction[] {
  if (!isKnownExecution(execution)) return []
  switch (execution.type) {
    case 'evm_read':
    case 'evm_call':
      return [execution.abi]
    case 'evm_multiread':
    case 'evm_multicall':
      return execution.calls.map(({ abi }) => abi)
    default:
      return []
  }
}

function abiJson(abi: AbiFunction): Json {
  return JSON.parse(JSON.stringify(abi))
}

function present(entries: readonly (readonly [string, Json | undefined])[]): JsonObject {
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as JsonObject
}
