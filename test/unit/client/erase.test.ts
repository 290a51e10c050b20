import { afterEach, beforeEach, expect, it } from 'vitest'
import { connect } from '../../../src/client/index.js'
import { documentOf, temporaryDirectory } from '../../support/snapshots.js'
import { filesWith, fillSubject, openSubjects, planted } from '../../support/subjects.js'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
beforeEach(async () => {
  place = await temporaryDirectory('client-erase')
})
afterEach(() => place.remove())

const subject = 'customer-17'
const open = () => openSubjects(place.path('ledger'), { serve: true })

it('G6: a client erases as the owner of the ledger does, and is refused as it is', async () => {
  const tally = await open()
  await fillSubject(tally, subject)
  const client = await connect({ location: place.path('ledger') })
  const { id } = await client.start(documentOf('keeps'), { inputs: { text: planted }, subject })
  await client.result(id)
  const found = { runs: 6, archived: 0, stateKeys: ['kept', 'last'] }
  expect(await client.erase(subject, { dryRun: true })).toMatchObject(found)
  await expect(client.erase(subject)).rejects.toMatchObject({
    code: 'ledger.not_erased',
    context: { problem: expect.stringContaining(`${subject}-asks`) }
  })
  await expect(client.erase('')).rejects.toMatchObject({ code: 'ledger.not_erased' })
  await client.cancel(`${subject}-asks`)
  const { id: removing } = await client.start(documentOf('removes'), { inputs: {}, subject })
  await client.result(removing)
  const erased = await client.erase(subject)
  expect(await tally.erase(subject)).toEqual({ ...erased, stateKeys: [] })
  expect(erased).toMatchObject({
    runs: 7,
    stateKeys: ['last'],
    kept: expect.arrayContaining([expect.any(String)])
  })
  const again = client.start(documentOf('send'), { inputs: { text: 'new' }, subject })
  await expect(again).rejects.toMatchObject({ code: 'ledger.subject_erased' })
  await client.close()
  await tally.close()
  expect(await filesWith(place.path('ledger'), planted)).toEqual([])
})

it('L6: what the next owner is asked again it answers as the one before did', async () => {
  const first = await open()
  await first.begin(documentOf('other'), { inputs: {}, subject }).result
  const asked = { id: 'erasing', action: 'system.erase', payload: { subject } }
  const client = await connect({ location: place.path('ledger') })
  const told = { ...(await client.intent(asked)), receipt: null }
  await first.close()
  const next = await open()
  expect({ ...(await client.intent(asked)), receipt: null }).toEqual(told)
  expect(told).toMatchObject({ type: 'dapp', runs: 1, archived: 0, stateKeys: [] })
  const other = { ...asked, payload: { subject: 'another' } }
  expect(await client.intent(other)).toMatchObject({ type: 'error' })
  await client.close()
  await next.close()
})
