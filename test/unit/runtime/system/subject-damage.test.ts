import { cp } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { IdentityId } from '../../../../src/core/index.js'
import { unwrapText, wrapValue } from '../../../../src/ledger/envelope.js'
import type { Store } from '../../../../src/ledger/index.js'
import { verifyLocation } from '../../../../src/runtime/index.js'
import { temporaryDirectory } from '../../../support/snapshots.js'
import { fillSubject, openSubjects } from '../../../support/subjects.js'
import { inStore } from '../../../support/tamper-place.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
beforeEach(async () => {
  place = await temporaryDirectory('subject-damage')
})
afterEach(() => place.remove())

const encryptedText = /[0-9a-f]{48}\.[A-Za-z0-9+/]{40,}=*/g

/** Commit records with the texts in them that are under a key. */
async function encryptedIn(store: Store, identity: IdentityId) {
  const found: { readonly key: string; readonly text: string; readonly at: number }[] = []
  const all = { gte: `${identity}/commit/`, lt: `${identity}/commit0` }
  for await (const [key, value] of store.entries(all)) {
    const text = unwrapText(key, value)
    for (const { index } of text.matchAll(encryptedText)) found.push({ key, text, at: index })
  }
  return found
}

/** Another digit of base64 in the middle of it: nonce, ciphertext or tag. */
function altered(text: string, at: number): string {
  const [encrypted = ''] = text.slice(at).match(encryptedText) ?? []
  const place = at + 49 + Math.floor((encrypted.length - 52) / 2)
  return `${text.slice(0, place)}${text[place] === 'A' ? 'B' : 'A'}${text.slice(place + 1)}`
}

it('G5: whatever is altered of what is under a key is damage to who has the key', async () => {
  const tally = await openSubjects(place.path('ledger'))
  await fillSubject(tally, 'customer-17')
  await tally.close()
  expectVerifyFailure('store')
  let count = 0
  await inStore(place.path('ledger'), async (store, identity) => {
    count = (await encryptedIn(store, identity)).length
  })
  expect(count).toBeGreaterThan(30)
  const runs = [...Array(count).keys()].filter((number) => number % 7 === 0)
  for (const number of runs) {
    const location = place.path(`altered-${number}`)
    await cp(place.path('ledger'), location, { recursive: true })
    await inStore(location, async (store, identity) => {
      const found = (await encryptedIn(store, identity))[number]
      if (found === undefined) throw new Error(`there is no text ${number}`)
      const { key, text, at } = found
      await store.commit([{ puts: [[key, wrapValue(key, altered(text, at))]], deletes: [] }])
    })
    const keyed = { passphrase: undefined }
    const { ok } = await verifyLocation(location, { notes: [], keyed })
    expect.soft(ok, `text ${number}`).toBe(false)
  }
})
