import { lazySchema, limits } from '../../core/index.js'
import { type HostCapability, stateful } from './host-capability.js'
import { accountName } from './wallet-amounts.js'

/**
 * Messages that were sent, as state under the root; their reader delivers them:
 *
 * ```
 * messages/<to>/<milliseconds, 15 digits>-<id>
 * {"at":..,"from":<package>,"id":..,"text":..,"to":..}
 * ```
 */

const PREFIX = 'messages/'
const TIME_DIGITS = 15
const ID_DIGITS = 32

/** `{ to, text }` gives `{ id, to, at }`. */
const send = stateful({
  name: 'messages.send',
  schema: lazySchema((z) =>
    z.strictObject({
      to: accountName(),
      text: z.string().min(1).max(limits.MESSAGE_TEXT_LENGTH_MAX)
    })
  ),
  perform({ state, packageId, callId, at }, { to, text }) {
    // No counter: two messages that are sent at once would each have to wait for the other.
    const id = callId.slice(0, ID_DIGITS)
    const key = `${PREFIX}${to}/${String(at).padStart(TIME_DIGITS, '0')}-${id}`
    state.set(key, { id, to, from: packageId, text, at })
    return { id, to, at }
  }
})

/** `{ to, last? }` gives `{ messages }`, the newest last. */
const list = stateful({
  name: 'messages.list',
  schema: lazySchema((z) =>
    z.strictObject({
      to: accountName(),
      last: z.int().min(1).max(limits.MESSAGES_LISTED_MAX).default(limits.MESSAGES_LISTED_MAX)
    })
  ),
  async perform({ state }, { to, last }) {
    const keys = await state.list(`${PREFIX}${to}/`)
    return { messages: keys.slice(-last).map((key) => state.get(key) ?? null) }
  }
})

export const messageCapabilities: readonly HostCapability[] = [send, list]
