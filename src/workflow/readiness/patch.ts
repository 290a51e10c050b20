import {
  canonicalize,
  type Hash,
  hashJson,
  isJsonObject,
  type Json,
  type JsonObject,
  limits
} from '../../core/index.js'
import type { AisPlan } from '../plan/plan.js'
import { typedAs } from '../type/check.js'
import type { AisRuntime } from './runtime.js'

/** A change of what a plan reads while it runs. */
export interface RuntimePatch {
  /** `merge` joins the members of an object with those that are there; it is shallow. */
  readonly op: 'set' | 'merge'
  /** Names joined by dots, e.g. `inputs.amount`. A name that holds dots stands in a list. */
  readonly path: string | readonly string[]
  readonly value: Json
  /**
   * CAIP-2; of a value of `ctx`: it was given to a node of this chain and holds for no other (W14).
   * Nodes say it of what they pass on; answers do not have it.
   */
  readonly chain?: string
}

/** What became of some patches; kept with the answer that brought them. */
export interface PatchAudit {
  readonly patchCount: number
  readonly applied: number
  readonly rejected: readonly {
    readonly index: number
    readonly path: string
    readonly problem: string
  }[]
  readonly affectedPaths: readonly string[]
  /** Some were applied and some were not. */
  readonly partialSuccess: boolean
  /** SHA-256 of the patches' canonical JSON. */
  readonly hash: Hash
}

/** Roots that patches may change (W3): never what nodes gave. */
export const patchRoots = ['inputs', 'ctx', 'contracts', 'policy'] as const
type PatchRoot = (typeof patchRoots)[number]

/** Reads patches from an answer; a string when it holds none. */
export function parsePatches(value: Json): readonly RuntimePatch[] | string {
  return patchesIn(value, ['op', 'path', 'value'])
}

/** {@link parsePatches} of those that a node has passed on; what is none is left out. */
export function carriedPatches(value: Json): readonly RuntimePatch[] {
  const found = patchesIn(value, ['op', 'path', 'value', 'chain'])
  return typeof found === 'string' ? [] : found
}

function patchesIn(value: Json, members: readonly string[]): readonly RuntimePatch[] | string {
  if (!Array.isArray(value)) return 'patches must be a list of {op, path, value}'
  if (value.length > limits.RUNTIME_PATCHES_MAX) {
    return `there are more than ${limits.RUNTIME_PATCHES_MAX} patches`
  }
  const patches: RuntimePatch[] = []
  for (const one of value) {
    if (!isJsonObject(one)) return 'a patch is an object {op, path, value}'
    const unknown = Object.keys(one).find((key) => !members.includes(key))
    if (unknown !== undefined) return `a patch has no ${unknown}`
    const { op = 'set', path, value: given, chain } = one
    if (op !== 'set' && op !== 'merge') return 'op is set or merge'
    if (typeof path !== 'string' && !isTexts(path)) return 'path must be text or a list of names'
    if (given === undefined) return 'a patch needs a value'
    const patch: RuntimePatch = { op, path, value: given }
    patches.push(typeof chain === 'string' ? { ...patch, chain } : patch)
  }
  return patches
}

/**
 * Applies patches one after the other; what is not allowed or does not fit is left out and told.
 * The runtime that was given stays as it is.
 */
export function applyPatches(
  plan: Pick<AisPlan, 'inputs'>,
  runtime: AisRuntime,
  patches: readonly RuntimePatch[]
): { readonly runtime: AisRuntime; readonly audit: PatchAudit } {
  let current = runtime
  const rejected: PatchAudit['rejected'][number][] = []
  const affected: string[] = []
  for (const [index, patch] of patches.entries()) {
    const path = pathText(patch.path)
    const changed = applyOne(plan, current, patch, namesOf(patch.path))
    if (typeof changed === 'string') rejected.push({ index, path, problem: changed })
    else {
      current = changed
      affected.push(path)
    }
  }
  const applied = patches.length - rejected.length
  const audit: PatchAudit = {
    patchCount: patches.length,
    applied,
    rejected,
    affectedPaths: [...new Set(affected)].sort(),
    partialSuccess: applied > 0 && rejected.length > 0,
    hash: hashJson(patches.map(({ op, path, value }) => ({ op, path, value })))
  }
  return { runtime: current, audit }
}

function applyOne(
  plan: Pick<AisPlan, 'inputs'>,
  runtime: AisRuntime,
  { op, value }: RuntimePatch,
  [root = '', ...rest]: readonly string[]
): AisRuntime | string {
  if (!isPatchRoot(root)) return `only ${patchRoots.join(', ')} can be changed`
  const [first] = rest
  if (first === undefined) return 'it must name what is changed'
  if (rest.some((name) => name === '' || name === '__proto__')) return 'it is not a path'
  const changed = changedAt(runtime[root], rest, op, value)
  if (typeof changed === 'string') return changed
  if (root !== 'inputs') return { ...runtime, [root]: changed }
  const input = Object.hasOwn(plan.inputs, first) ? plan.inputs[first] : undefined
  if (input === undefined) return `the workflow has no input ${first}`
  const typed = typedAs(input.type, changed[first] ?? null)
  if (!typed.ok) return typed.problem
  return { ...runtime, inputs: { ...changed, [first]: typed.value } }
}

function changedAt(
  owner: JsonObject,
  [name = '', ...rest]: readonly string[],
  op: RuntimePatch['op'],
  value: Json
): JsonObject | string {
  const before = Object.hasOwn(owner, name) ? owner[name] : undefined
  if (rest.length > 0) {
    if (before !== undefined && !isJsonObject(before)) return `${name} holds no members`
    const inner = changedAt(before ?? {}, rest, op, value)
    return typeof inner === 'string' ? inner : { ...owner, [name]: inner }
  }
  if (op === 'set') return { ...owner, [name]: value }
  if (!isJsonObject(value)) return 'only an object can be merged'
  if (before !== undefined && !isJsonObject(before)) return `${name} holds no members`
  return { ...owner, [name]: { ...before, ...value } }
}

/**
 * The patches that hold for a node of a chain. Null, for the outputs of a workflow: values of `ctx`
 * hold there if they are the same on every chain that was given them.
 */
export function patchesFor(
  patches: readonly RuntimePatch[],
  chain: string | null
): readonly RuntimePatch[] {
  if (chain !== null) return patches.filter((one) => one.chain === undefined || one.chain === chain)
  const last = new Map<string, Map<string, string>>()
  for (const { path, value, chain: given } of patches) {
    if (given === undefined) continue
    const values = last.get(pathText(path)) ?? new Map<string, string>()
    last.set(pathText(path), values.set(given, canonicalize(value)))
  }
  return patches.filter(
    ({ path, chain: given }) =>
      given === undefined || new Set(last.get(pathText(path))?.values()).size === 1
  )
}

export function pathText(path: RuntimePatch['path']): string {
  return typeof path === 'string' ? path : path.join('.')
}

/** The names of a path, its root first. */
export function namesOf(path: RuntimePatch['path']): readonly string[] {
  return typeof path === 'string' ? path.split('.') : path
}

/** Whether something below a root may be given while a plan runs. */
export function isPatchRoot(root: string): root is PatchRoot {
  return patchRoots.some((one) => one === root)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
