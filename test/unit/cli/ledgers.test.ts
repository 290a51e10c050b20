import { cp, rm } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { doctor } from '../../../src/cli/doctor.js'
import { createFrame, exitCodes, type Frame } from '../../../src/cli/frame/frame.js'
import { identities } from '../../../src/cli/identities.js'
import { importLedger } from '../../../src/cli/import.js'
import { intent } from '../../../src/cli/intent.js'
import { log } from '../../../src/cli/log.js'
import type { WiredRuntime } from '../../../src/runtime/index.js'
import { documentOf, openSnapshotLedger, temporaryDirectory } from '../../support/snapshots.js'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
let service: WiredRuntime | undefined
beforeEach(async () => {
  place = await temporaryDirectory('cli')
})
afterEach(async () => {
  await service?.close()
  service = undefined
  await place.remove()
})

/** A command's frame, with the documents that it prints. */
function frameOf(dir: string, options: { readonly identity?: string } = {}) {
  let printed = ''
  const stdout = {
    write: (text: string) => {
      printed += text
      return true
    }
  }
  const host = { stdout, stderr: { write: () => true }, environment: {}, cwd: place.path() }
  const frame: Frame = createFrame({ dir, json: true, ...options }, host)
  const documents = (type: string) =>
    printed
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ $type }) => $type === type)
  return { frame, documents }
}

it('K2: lists identities, and means the one that is named', async () => {
  const tally = await openSnapshotLedger(place.path('ledger'), { create: 'if-absent' })
  const { identity: first } = tally
  const reply = await tally.intent({ action: 'system.identity.create' })
  const { identity: second } = reply as never as { readonly identity: string }
  await tally.close()
  await rm(place.path('ledger', 'keys', `${first}.json`))
  const listed = frameOf('ledger')
  expect(await identities(listed.frame)).toBe(exitCodes.done)
  const shown = listed.documents('identity')
  expect(shown.map(({ identity }) => identity)).toEqual([first, second].sort())
  expect(shown).toContainEqual(expect.objectContaining({ identity: first, isMain: true }))
  expect(shown).toContainEqual(
    expect.objectContaining({ identity: second, isMain: false, hasKey: true })
  )

  const named = frameOf('ledger', { identity: second })
  expect(named.frame.commands.given).toEqual([
    ['--dir', 'ledger'],
    ['--identity', second]
  ])
  const payload = `{"publicKey":"${'a'.repeat(64)}","isApprover":true}`
  expect(await intent(named.frame, 'system.approver', { payload })).toBe(exitCodes.done)
  for (const options of [{ identity: second }, {}]) {
    const { frame, documents } = frameOf('ledger', options)
    expect(await log(frame, {})).toBe(exitCodes.done)
    const action = options.identity === undefined ? 'system.identity.create' : 'system.approver'
    expect(documents('receipt').map((one) => JSON.stringify(one))).toEqual([
      expect.stringContaining(`"${action}"`)
    ])
  }
  // A name is asked for before the command begins (test/script/identity-names.test.ts).
  expect(frameOf('ledger', { identity: 'first' }).frame.identity).toBeUndefined()
})

it('K2, K10: imports into a ledger that a service holds, which doctor then says is restoring', async () => {
  const tally = await openSnapshotLedger(place.path('ledger'), { create: 'if-absent' })
  const { identity } = tally
  await tally.close()
  await cp(place.path('ledger'), place.path('early'), { recursive: true })
  const later = await openSnapshotLedger(place.path('ledger'))
  await later.begin(documentOf('note'), { inputs: { text: 'later' } }).result
  await later.export({ path: place.path('later.snapshot') })
  await later.close()

  service = await openSnapshotLedger(place.path('early'), { serve: true })
  const other = frameOf('early', { identity: 'f'.repeat(64) })
  await expect(identities(other.frame)).resolves.toBe(exitCodes.done)
  const importing = frameOf('early')
  expect(await importLedger(importing.frame, 'later.snapshot', {})).toBe(exitCodes.done)
  expect(importing.documents('intent')).toMatchObject([{ restored: true, identity }])
  const again = frameOf('early')
  expect(await importLedger(again.frame, 'later.snapshot', {})).toBe(exitCodes.failed)
  await expect(importLedger(again.frame, undefined, { takeOver: true })).rejects.toMatchObject({
    code: 'ledger.locked'
  })
  const looking = frameOf('early')
  await doctor(looking.frame, {})
  const [{ checks } = {}] = looking.documents('doctor')
  expect(checks).toContainEqual(
    expect.objectContaining({ name: 'ledger', found: expect.stringContaining('restoring, 0') })
  )
  await service.close()
  const taking = frameOf('early')
  expect(await importLedger(taking.frame, undefined, { takeOver: true })).toBe(exitCodes.done)
  expect(taking.documents('take_over')).toMatchObject([{ identities: [identity] }])
})
