import type { BlockObligation, IntentPort } from '../code/index.js'
import type { Json } from '../core/index.js'

/** Who is about to do an intent, under the kind by which a run pins obligations. */
interface Doing {
  readonly kind: 'blocks' | 'packages'
  /** `name@version` of a block, id of a package. */
  readonly name: string
  readonly payload: Json
}

/** What the run has pinned for who does an intent (semantics.md K14). */
export function obligationOf(
  { obligations }: Pick<IntentPort, 'obligations'>,
  { kind, name }: Omit<Doing, 'payload'>
): BlockObligation | undefined {
  const named = obligations[kind]
  return named !== undefined && Object.hasOwn(named, name) ? named[name] : undefined
}

/**
 * Fails an attempt beyond the limit, and asks a person first where that is an obligation; undefined
 * when there is nothing to wait for. All attempts of a step count, of each of its providers.
 */
export function beforeDoing(
  port: IntentPort,
  obligation: BlockObligation | undefined,
  { name, payload }: Doing
): Promise<void> | undefined {
  if (obligation === undefined) return undefined
  const { confirm, limits = {} } = obligation
  const { attempts, timeoutMs } = limits
  if (attempts !== undefined && port.attempt > attempts) {
    port.fail('attempts_exceeded', { code: name, attempts })
  }
  if (confirm === undefined) return undefined
  const { message = null, approvers } = confirm
  return port.confirm({ message, block: name, payload, timeoutMs, approvers })
}
