import { type DocumentPath, type Json, type JsonObject, objectOf } from '../../core/index.js'
import {
  type AbiFunction,
  isKnownExecution,
  type KnownExecution,
  type SimpleExecution
} from '../document/execution.js'
import type { AisValue } from '../document/value.js'

/** A value of an execution and where it stands there. */
export interface PlacedValue {
  readonly path: DocumentPath
  readonly value: AisValue
}

/** Every value of an execution. */
export function executionValues(execution: SimpleExecution): readonly PlacedValue[] {
  const found: PlacedValue[] = []
  mapExecution(execution, (value, path) => {
    found.push({ path, value })
    return null
  })
  return found
}

/** Whether a value of an execution says if a call of a batch is made. */
export function isConditionOfCall(path: DocumentPath): boolean {
  return path.length === 3 && path[0] === 'calls' && path[2] === 'condition'
}

type Resolve = (value: AisValue, path: DocumentPath) => Json | undefined

/**
 * The execution with each of its values replaced by what `resolve` gives, as executors take it;
 * undefined leaves a field out, and a call of a batch whose condition is false.
 */
export function mapExecution(execution: SimpleExecution, resolve: Resolve): JsonObject {
  if (!isKnownExecution(execution)) return pluginJson(execution, resolve)
  switch (execution.type) {
    case 'evm_read':
    case 'evm_call':
    case 'evm_multiread':
    case 'evm_multicall':
      return { ...evmJson(execution, resolve), ...decoding(execution) }
    case 'solana_instruction':
    case 'solana_read':
      return solanaJson(execution, resolve)
    case 'bitcoin_psbt': {
      const { type, script_type, mapping } = execution
      return { type, script_type, mapping: record(mapping, ['mapping'], resolve) }
    }
  }
}

type Evm = Extract<KnownExecution, { readonly type: `evm_${string}` }>

function evmJson(execution: Evm, resolve: Resolve): JsonObject {
  const { type } = execution
  switch (type) {
    case 'evm_read':
    case 'evm_call':
      return present({
        type,
        to: resolve(execution.to, ['to']),
        abi: abiJson(execution.abi),
        args: record(execution.args, ['args'], resolve),
        value: type === 'evm_call' ? at(execution.value, ['value'], resolve) : undefined
      })
    case 'evm_multiread': {
      const { method } = execution
      const calls = execution.calls.map(({ id, to, abi, args }, index) =>
        present({
          id,
          to: resolve(to, ['calls', index, 'to']),
          abi: abiJson(abi),
          args: record(args, ['calls', index, 'args'], resolve)
        })
      )
      return { type, method, calls }
    }
    case 'evm_multicall': {
      const calls = execution.calls.flatMap(({ abi, args, condition }, index) => {
        if (at(condition, ['calls', index, 'condition'], resolve) === false) return []
        return [{ abi: abiJson(abi), args: record(args, ['calls', index, 'args'], resolve) }]
      })
      return present({
        type,
        to: resolve(execution.to, ['to']),
        calls,
        deadline: at(execution.deadline, ['deadline'], resolve),
        value: at(execution.value, ['value'], resolve)
      })
    }
  }
}

type Solana = Extract<KnownExecution, { readonly type: `solana_${string}` }>

function solanaJson(execution: Solana, resolve: Resolve): JsonObject {
  const { type } = execution
  if (type === 'solana_read') {
    const { method, params } = execution
    return present({ type, method, params: at(params, ['params'], resolve) })
  }
  const accounts = execution.accounts.map(({ name, pubkey, signer, writable }, index) =>
    present({
      name,
      pubkey: resolve(pubkey, ['accounts', index, 'pubkey']),
      signer: bare(signer, ['accounts', index, 'signer'], resolve),
      writable: bare(writable, ['accounts', index, 'writable'], resolve)
    })
  )
  const { lookup_tables: lookup, discriminator } = execution
  const tables = Array.isArray(lookup)
    ? lookup.flatMap((table, index) => resolve(table, ['lookup_tables', index]) ?? [])
    : at(lookup, ['lookup_tables'], resolve)
  return present({
    type,
    program: resolve(execution.program, ['program']),
    instruction: execution.instruction,
    discriminator: discriminator && bare(discriminator, ['discriminator'], resolve),
    accounts,
    data: resolve(execution.data, ['data']),
    compute_units: at(execution.compute_units, ['compute_units'], resolve),
    lookup_tables: tables
  })
}

/** Of a plugin every field but `type` and `method` is a value. */
function pluginJson(execution: SimpleExecution, resolve: Resolve): JsonObject {
  const fields = execution as Readonly<Record<string, unknown>>
  const entries: [string, Json][] = [['type', String(execution.type)]]
  const { method } = fields
  if (method !== undefined) entries.push(['method', method as Json])
  for (const key of Object.keys(fields)) {
    if (key === 'type' || key === 'method' || key === 'extensions') continue
    const resolved = resolve(fields[key] as AisValue, [key])
    if (resolved !== undefined) entries.push([key, resolved])
  }
  return objectOf(entries)
}

/** Fragments by which errors and events are decoded, where there are any. */
function decoding(execution: Evm): JsonObject {
  const events = 'events' in execution ? execution.events : undefined
  return present({
    errors: execution.errors === undefined ? undefined : plainJson(execution.errors),
    events: events === undefined ? undefined : plainJson(events)
  })
}

/** What may stand as it is, or as a value. */
function bare(
  value: AisValue | string | boolean,
  path: DocumentPath,
  resolve: Resolve
): Json | undefined {
  return typeof value === 'object' ? resolve(value, path) : value
}

function at(value: AisValue | undefined, path: DocumentPath, resolve: Resolve): Json | undefined {
  return value === undefined ? undefined : resolve(value, path)
}

function record(
  values: Readonly<Record<string, AisValue>>,
  path: DocumentPath,
  resolve: Resolve
): JsonObject {
  const entries = Object.entries(values).map(
    ([key, value]) => [key, resolve(value, [...path, key])] as const
  )
  return present(objectOf(entries))
}

function abiJson(abi: AbiFunction): Json {
  return plainJson(abi)
}

function plainJson(value: object): Json {
  return JSON.parse(JSON.stringify(value))
}

function present(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  const isWhole = Object.values(members).every((value) => value !== undefined)
  if (isWhole) return members as JsonObject
  const entries = Object.entries(members).filter(([, value]) => value !== undefined)
  return objectOf(entries) as JsonObject
}
