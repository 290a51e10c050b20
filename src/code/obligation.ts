import {
  type Approvers,
  limits as bounds,
  canonicalize,
  isJsonObject,
  type Json
} from '../core/index.js'
import { approversOf, stricterApprovers } from '../identity/index.js'

/*
 * What holds wherever a block, a package or an effect is used, whatever a document says
 * (semantics.md K14). A run pins what is in force when it begins; a document can only add.
 */

/** A person approves what is about to be done. */
export interface ConfirmObligation {
  /** What the person is asked; a document's own words only stand where there is none. */
  readonly message?: string
  /** Who has to sign the answer (K13). */
  readonly approvers?: Approvers
}

/** Ceilings of what a document may ask for. */
export interface BlockLimits {
  /** How often a step executes the block, retries and repairs included; from 1. */
  readonly attempts?: number
  /** How long a step with the block lasts, its waits included; milliseconds, from 1. */
  readonly timeoutMs?: number
}

/** What holds for an effect. */
export interface EffectObligation {
  readonly confirm?: ConfirmObligation
}

/** What holds for a block or a package. */
export interface BlockObligation extends EffectObligation {
  readonly limits?: BlockLimits
}

/** The obligations of a run, as `run.started` keeps them. */
export interface Obligations {
  /** By `name@version`. */
  readonly blocks?: Readonly<Record<string, BlockObligation>>
  /** By the package's id. */
  readonly packages?: Readonly<Record<string, BlockObligation>>
  /** By the effect's name. */
  readonly effects?: Readonly<Record<string, EffectObligation>>
}

/** What holds for the executions of one block in one run. */
export interface BoundObligations {
  readonly own: BlockObligation | undefined
  /** All that the run has pinned: of effects, and of those whom the kernel chooses. */
  readonly run: Obligations
}

/**
 * Both: what either asks for, and the stricter of two limits and of two lists of approvers. A
 * problem where no list is the stricter.
 */
export function joinedObligation(
  one: BlockObligation | undefined,
  other: BlockObligation | undefined
): BlockObligation | { readonly problem: string } | undefined {
  if (one === undefined || other === undefined) return one ?? other
  const approvers = stricterApprovers(one.confirm?.approvers, other.confirm?.approvers)
  if (approvers === null) {
    return { problem: 'two lists of approvers hold for it, and neither is the stricter' }
  }
  const confirm =
    one.confirm === undefined || other.confirm === undefined
      ? (one.confirm ?? other.confirm)
      : { ...other.confirm, ...one.confirm, ...(approvers === undefined ? {} : { approvers }) }
  return obligation({
    confirm,
    attempts: lowest(one.limits?.attempts, other.limits?.attempts),
    timeoutMs: lowest(one.limits?.timeoutMs, other.limits?.timeoutMs)
  })
}

/** The lower of two numbers, of which none has to be there. */
export function lowest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}

/** Without the members that are undefined; undefined when nothing is left. */
function obligation({
  confirm,
  attempts,
  timeoutMs
}: {
  readonly confirm: ConfirmObligation | undefined
  readonly attempts: number | undefined
  readonly timeoutMs: number | undefined
}): BlockObligation | undefined {
  const limits: BlockLimits = {
    ...(attempts === undefined ? {} : { attempts }),
    ...(timeoutMs === undefined ? {} : { timeoutMs })
  }
  const found: BlockObligation = {
    ...(confirm === undefined ? {} : { confirm }),
    ...(Object.keys(limits).length === 0 ? {} : { limits })
  }
  return Object.keys(found).length === 0 ? undefined : found
}

/** A confirmation as a program declares it. */
export interface DeclaredConfirm {
  readonly message?: string
  /** Ed25519 keys of which so many have to sign the answer (K13). */
  readonly approvers?: { readonly threshold: number; readonly keys: readonly string[] }
}

/** An obligation as a program declares it. */
export interface DeclaredObligation {
  /** Each execution is approved by a person first, whatever asks for it. */
  readonly confirm?: true | DeclaredConfirm
  readonly limits?: BlockLimits
}

/** What a declaration asks for, undefined for nothing; or why it is none. */
export function declaredObligation({
  confirm,
  limits = {}
}: DeclaredObligation): BlockObligation | { readonly problem: string } | undefined {
  const asked = confirm === true ? {} : confirm
  const { message, approvers: given } = asked ?? {}
  const named = given === undefined ? undefined : approversOf(given)
  if (named !== undefined && 'problem' in named) return named
  if (message !== undefined && !isMessage(message)) return { problem: 'its message is no text' }
  for (const name of ['attempts', 'timeoutMs'] as const) {
    const limit = limits[name]
    if (limit !== undefined && !isLimit(limit)) {
      return { problem: `its limit ${name} is no whole number from 1` }
    }
  }
  const words = message === undefined ? {} : { message }
  return obligation({
    confirm: asked === undefined ? undefined : { ...words, ...named },
    attempts: limits.attempts,
    timeoutMs: limits.timeoutMs
  })
}

function isMessage(given: unknown): boolean {
  return typeof given === 'string' && given.length <= bounds.OBLIGATION_MESSAGE_MAX
}

const kinds = ['blocks', 'packages', 'effects'] as const

/** Whether an entry of a journal may have these obligations; later versions may add members. */
export function areObligations(given: unknown): given is Obligations {
  // Journals are JSON.
  const value = given as Json
  if (!isJsonObject(value)) return false
  return kinds.every((kind) => {
    const named = value[kind]
    return named === undefined || (isJsonObject(named) && Object.values(named).every(isObligation))
  })
}

function isObligation(given: Json): boolean {
  if (!isJsonObject(given)) return false
  const { confirm, limits = {} } = given
  if (confirm !== undefined && !isConfirm(confirm)) return false
  if (!isJsonObject(limits)) return false
  return [limits['attempts'], limits['timeoutMs']].every((one) => one === undefined || isLimit(one))
}

function isConfirm(given: Json): boolean {
  if (!isJsonObject(given)) return false
  const { message, approvers } = given
  if (message !== undefined && !isMessage(message)) return false
  if (approvers === undefined) return true
  const named = approversOf(approvers)
  return 'approvers' in named && canonicalize(named.approvers) === canonicalize(approvers)
}

function isLimit(given: unknown): boolean {
  return Number.isSafeInteger(given) && (given as number) > 0
}
