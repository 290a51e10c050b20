import type { z } from 'zod-pinned'
import { isJsonObject, type Json, lazySchema, limits } from '../../core/index.js'
import { type HostCapability, type HostState, stateful } from './host-capability.js'
import { accountName } from './wallet-amounts.js'

/**
 * People and their accounts, as state under the root:
 *
 * ```
 * contacts/<name, A-Z as a-z>     {"account":"alice","name":"Alice"}
 * ```
 */

const PREFIX = 'contacts/'

const contactName = lazySchema((z) =>
  z
    .string()
    .min(1)
    .max(limits.CONTACT_NAME_LENGTH_MAX)
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}/]+$/u, 'a name has no control characters and no slash')
    .refine((name) => name === name.trim(), 'a name has no space at its ends')
)

const contact = lazySchema((z) => z.strictObject({ name: contactName(), account: accountName() }))
const contactList = lazySchema((z) =>
  z.strictObject({ contacts: z.array(contact()).min(1).max(limits.CONTACTS_LISTED_MAX) })
)

// Only these letters: lower case of others depends on the version of Unicode (D4).
function keyOf(name: string): string {
  return PREFIX + name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/**
 * `{ name }` gives `{ contact }`, which is null when the name is unknown; `{}` gives `{ contacts
 * }`.
 */
const read = stateful({
  name: 'contacts.read',
  schema: lazySchema((z) => z.strictObject({ name: contactName().optional() })),
  async perform({ state }, { name }) {
    if (name !== undefined) return { contact: state.get(keyOf(name)) ?? null }
    const keys = await state.list(PREFIX)
    const found = keys.slice(0, limits.CONTACTS_LISTED_MAX).map((key) => state.get(key) ?? null)
    return { contacts: found, more: keys.length > found.length }
  }
})

/**
 * `{ contacts: [{ name, account }] }` gives `{ imported }`, the number of those that were new or
 * changed.
 */
const importMany = stateful({
  name: 'contacts.import',
  schema: contactList,
  perform: ({ state }, { contacts }) => ({
    imported: contacts.filter((one) => put(state, one)).length
  })
})

function put(state: HostState, { name, account }: z.infer<ReturnType<typeof contact>>): boolean {
  const key = keyOf(name)
  const known: Json | undefined = state.get(key)
  if (isJsonObject(known) && known['name'] === name && known['account'] === account) return false
  state.set(key, { account, name })
  return true
}

export const contactCapabilities: readonly HostCapability[] = [read, importMany]
