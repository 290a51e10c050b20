import { z } from 'zod-pinned'
import {
  atOnce,
  checkInPieces,
  type DocumentPath,
  isSliceFull,
  type Json,
  limits,
  type Pieces,
  passSteps
} from '../../core/index.js'

/**
 * A value of an AIS document (W3): an object with exactly one key. `detect` leaves the choice to
 * the caller of the plan; the others are the values of `docs/spec/expressions.md`.
 */
export type AisValue =
  | { readonly lit: Json }
  | { readonly ref: string }
  | { readonly cel: string }
  | { readonly detect: Detect }
  | { readonly object: { readonly [key: string]: AisValue } }
  | { readonly array: readonly AisValue[] }

export interface Detect {
  readonly kind: (typeof detectKinds)[number]
  readonly provider?: string
  /** `choose_one` takes the first; for the others they are what a provider chooses among. */
  readonly candidates?: readonly (AisValue | Json)[]
  readonly constraints?: { readonly [key: string]: Json }
  readonly requires_capabilities?: readonly string[]
}

export const detectKinds = ['choose_one', 'best_quote', 'best_path', 'protocol_specific'] as const

const kinds = ['lit', 'ref', 'cel', 'detect', 'object', 'array'] as const
const detectKeys = [
  'kind',
  'provider',
  'candidates',
  'constraints',
  'requires_capabilities',
  'extensions'
]

type Refuse = (path: DocumentPath, problem: string) => void

/** Says what is wrong with a value, at each place where something is. */
export function checkValue(value: unknown, refuse: Refuse, at: DocumentPath = []): void {
  atOnce(checkingValue(value, refuse, at))
}

function* checkingValue(value: unknown, refuse: Refuse, at: DocumentPath = []): Pieces<void> {
  passSteps(STEPS_OF_VALUE)
  if (isSliceFull()) yield
  if (!isRecord(value)) {
    const hint = value === undefined ? 'it is missing' : 'it is bare JSON; write {lit: ...}'
    refuse(at, hint)
    return
  }
  const keys = Object.keys(value)
  const [key = ''] = keys
  const kind = kinds.find((one) => one === key)
  if (keys.length !== 1 || kind === undefined) {
    refuse(at, `a value has exactly one key of ${kinds.join(', ')}`)
    return
  }
  const inner = value[kind]
  const below: DocumentPath = [...at, kind]
  switch (kind) {
    case 'lit':
      return
    case 'ref':
    case 'cel':
      if (typeof inner !== 'string' || inner === '') refuse(below, `${kind} must be text`)
      return
    case 'object':
      if (!isRecord(inner)) return refuse(below, 'object must hold named values')
      for (const [name, one] of Object.entries(inner)) {
        yield* checkingValue(one, refuse, [...below, name])
      }
      return
    case 'array':
      return yield* checkingList(inner, refuse, below)
    case 'detect':
      return yield* checkingDetect(inner, refuse, below)
  }
}

/** Work of a value beside that of reading it. */
const STEPS_OF_VALUE = 4

function* checkingList(value: unknown, refuse: Refuse, at: DocumentPath): Pieces<void> {
  if (!Array.isArray(value)) return refuse(at, 'it must be a list of values')
  for (const [index, one] of value.entries()) yield* checkingValue(one, refuse, [...at, index])
}

function* checkingDetect(value: unknown, refuse: Refuse, at: DocumentPath): Pieces<void> {
  if (!isRecord(value)) return refuse(at, 'detect must say what is looked for')
  const unknown = Object.keys(value).find((key) => !detectKeys.includes(key))
  if (unknown !== undefined) refuse([...at, unknown], 'detect has no such key')
  const { kind, provider, candidates, constraints, requires_capabilities: capabilities } = value
  if (!detectKinds.some((one) => one === kind)) {
    refuse([...at, 'kind'], `kind is one of ${detectKinds.join(', ')}`)
  }
  if (provider !== undefined && typeof provider !== 'string') {
    refuse([...at, 'provider'], 'a provider is named by text')
  }
  if (candidates !== undefined && !Array.isArray(candidates)) {
    refuse([...at, 'candidates'], 'it must be a list')
  }
  for (const [index, one] of (Array.isArray(candidates) ? candidates : []).entries()) {
    if (isValueForm(one)) yield* checkingValue(one, refuse, [...at, 'candidates', index])
  }
  if (kind === 'choose_one' && (!Array.isArray(candidates) || candidates.length === 0)) {
    refuse([...at, 'candidates'], 'choose_one needs at least one candidate')
  }
  if (constraints !== undefined && !isRecord(constraints)) {
    refuse([...at, 'constraints'], 'constraints are named')
  }
  const isTexts =
    Array.isArray(capabilities) && capabilities.every((one) => typeof one === 'string')
  if (capabilities !== undefined && !isTexts) {
    refuse([...at, 'requires_capabilities'], 'it must be a list of names')
  }
}

/** Candidates of a choice; AIS writes them bare, too. */
export function candidatesOf({ candidates = [] }: Detect): readonly AisValue[] {
  return candidates.map((one) => (isValueForm(one) ? one : { lit: one as Json }))
}

function isValueForm(value: unknown): value is AisValue {
  if (!isRecord(value)) return false
  const [key, ...others] = Object.keys(value)
  return others.length === 0 && kinds.some((kind) => kind === key)
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The schema of a value; each problem is reported at its own place. */
export const valueSchema = checkInPieces(
  z
    .custom<AisValue>()
    .superRefine((value, context) => {
      let found = 0
      checkValue(value, (path, message) => {
        found += 1
        if (found > limits.DOCUMENT_FINDINGS_MAX) return
        context.addIssue({ code: 'custom', path: [...path], message })
      })
      const more = found - limits.DOCUMENT_FINDINGS_MAX
      if (more > 0) {
        const message = `${more} more problems of this value are not shown`
        context.addIssue({ code: 'custom', path: [], message })
      }
    })
    .meta({ description: 'A value of lit, ref, cel, detect, object or array.' }),
  checkingValue
)

export const valueMap = z.record(z.string().min(1).max(128), valueSchema)
