import { expect, test } from 'vitest'
import type { OpenWait } from '../../../../src/block/index.js'
import type { WiredRuntime } from '../../../../src/runtime/index.js'
import { LedgerOnDisk } from '../../../support/ledger-on-disk.js'
import { PackageFolder, type WrittenPackage } from '../../../support/packages.js'

/** Sends three messages, one after the other. */
const sender: WrittenPackage = {
  id: 'sender',
  intents: ['messages.all'],
  capabilities: ['messages.send'],
  code: `export async function run(intent, api) {
    const sent = []
    for (const to of ['ada', 'ben', 'cay']) sent.push(await api.messages.send({ to, text: 'hi' }))
    return { count: sent.length }
  }`
}

/** The first open wait of the run, once it has one. */
async function openWait(tally: WiredRuntime): Promise<OpenWait> {
  const run = await tally.attach('sends')
  for (;;) {
    const [wait] = await run.waits()
    if (wait !== undefined) return wait
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('K14: an answer is taken while the code of a package is on its way to its wait', async () => {
  const disk = await LedgerOnDisk.create()
  const folder = await PackageFolder.create()
  const packages = [await folder.write(sender)]
  const obligations = { effects: { 'messages.send': { confirm: true } } } as const
  let tally = await disk.open({ packages, obligations, resume: true })
  const { capabilities = [] } = sender
  await tally.intent({ action: 'system.grant', payload: { package: sender.id, capabilities } })
  expect(await tally.intent({ id: 'sends', action: 'messages.all' })).toMatchObject({
    type: 'waiting',
    request: { effect: 'messages.send', payload: { to: 'ada' } }
  })
  const asked: unknown[] = []
  for (let messages = 0; messages < 3; messages += 1) {
    const { token, digest, request } = await openWait(tally)
    asked.push(request)
    await disk.close()
    // The next life executes the code again, beside the loop, up to the wait.
    tally = await disk.open({ packages, obligations, resume: true })
    const run = await tally.attach('sends')
    expect(await run.approve(token, { digest })).toMatchObject({ accepted: true })
  }
  expect(asked).toMatchObject(['ada', 'ben', 'cay'].map((to) => ({ payload: { to } })))
  expect(await tally.result('sends')).toMatchObject({ type: 'dapp', count: 3 })
  await disk.close()
  await disk.remove()
  await folder.remove()
})
