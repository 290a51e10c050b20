import { afterEach, beforeEach, expect, it } from 'vitest'
import { connectOwner } from '../../../../src/owner/index.js'
import { temporaryDirectory } from '../../../support/snapshots.js'
import { filesWith, openSubjects, planted } from '../../../support/subjects.js'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
beforeEach(async () => {
  place = await temporaryDirectory('subject-intents')
})
afterEach(() => place.remove())

const subject = 'customer-17'
const actions = ['send', 'large', 'fails', 'throws', 'asks', 'nobody']
const askedFor = (name: string) => ({
  ...{ id: `${subject}-${name}`, action: `${name}.it`, payload: { text: planted }, raw: planted },
  ...{ context: { text: planted }, subject }
})

it('G5, G6: what a lone intent with a subject keeps is under the key, and erased with it', async () => {
  const tally = await openSubjects(place.path('ledger'))
  const replies: string[] = []
  for (const name of actions) replies.push((await tally.intent(askedFor(name))).type)
  expect(replies).toEqual(['dapp', 'dapp', 'error', 'error', 'waiting', 'error'])
  expect(await tally.intent(askedFor('send'))).toMatchObject({ type: 'dapp', text: planted })
  expect(await tally.verify()).toMatchObject({ ok: true, complete: true })
  await tally.close()
  expect(await filesWith(place.path('ledger'), planted)).toEqual([])
  const again = await openSubjects(place.path('ledger'))
  await expect(again.erase(subject)).rejects.toMatchObject({ code: 'ledger.not_erased' })
  const waiting = await again.attach(`${subject}-asks`)
  await waiting.cancel()
  await waiting.result
  expect(await again.erase(subject)).toMatchObject({ runs: 6 })
  const reasonOf = async (request: Parameters<typeof again.intent>[0]) => {
    const reply = await again.intent(request)
    return reply.type === 'error' ? reply.reason : reply.type
  }
  const { id: _, ...fresh } = askedFor('send')
  expect(await reasonOf(askedFor('send'))).toBe('erased')
  expect(await reasonOf(fresh)).toBe('subject_erased')
  expect(await again.verify()).toMatchObject({ ok: true })
  await again.close()
  expect(await filesWith(place.path('ledger'), planted)).toEqual([])
})

it('K13: an agent names no subject, and an intent of the system has none', async () => {
  const tally = await openSubjects(place.path('ledger'), { serve: true })
  const owner = await connectOwner(place.path('ledger'))
  const asked = { action: 'other.it', payload: {}, subject }
  await expect(owner?.request('intent', { ...asked, agent: 'eve' })).rejects.toMatchObject({
    code: 'service.invalid_params'
  })
  expect(await owner?.request('intent', asked)).toMatchObject({ type: 'dapp' })
  const system = { action: 'system.approver', payload: {}, subject }
  expect(await tally.intent(system)).toMatchObject({ type: 'error', reason: 'invalid_intent' })
  expect(await tally.erase(subject, { dryRun: true })).toMatchObject({ runs: 1 })
  owner?.close()
  await tally.close()
})
