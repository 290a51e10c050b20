import { afterAll, beforeAll, expect, test } from 'vitest'
import { getInitialSnapshot, getNextSnapshot } from 'xstate'
import { systemClock, systemRandom } from '../../../../src/core/index.js'
import { defineBlock } from '../../../../src/index.js'
import { intentMachine, type StageEvent } from '../../../../src/intent/index.js'
import { Registry } from '../../../../src/runtime/code/registry.js'
import { openForRuntime } from '../../../../src/runtime/open.js'
import { WiredRuntime } from '../../../../src/runtime/runtime.js'
import { counterPackage, PackageFolder } from '../../../support/packages.js'

const heard: StageEvent[] = []
let tally: WiredRuntime
let folder: PackageFolder

const block = defineBlock({
  name: 'serve',
  version: '1',
  sideEffects: 'none',
  intents: ['serve.tea', 'serve.nothing'],
  run: (ctx, input) => ((input as { no?: true }).no ? ctx.fail('no_tea') : { tea: true })
})

const caller = {
  ...counterPackage,
  id: 'caller',
  intents: ['call.out'],
  capabilities: ['contacts.read'],
  code: `export async function run(intent, api) {
    return { found: await api.contacts.read({}) }
  }`
}

beforeAll(async () => {
  folder = await PackageFolder.create()
  const random = systemRandom
  tally = new WiredRuntime(
    await openForRuntime({ location: 'memory:' }, { random }),
    await Registry.open({ blocks: [block] }),
    {
      clock: systemClock,
      random,
      durability: 'output',
      onStage: (_unit, event) => heard.push(event)
    }
  )
  await tally.loadPackages([await folder.write(counterPackage), await folder.write(caller)])
})

afterAll(async () => {
  await tally.close()
  await folder.remove()
})

/** Where an intent's stages lead in the chart; each of them must be one that the chart knows. */
async function way(
  act: () => Promise<unknown>
): Promise<{ readonly end: unknown; readonly events: string }> {
  heard.length = 0
  await act()
  let snapshot = getInitialSnapshot(intentMachine)
  for (const type of heard) {
    expect(snapshot.can({ type }), `${type} at ${String(snapshot.value)}`).toBe(true)
    snapshot = getNextSnapshot(intentMachine, snapshot, { type })
  }
  return { end: snapshot.value, events: heard.join(' ') }
}

test('K1: every way that an intent goes is a way through machines/intent.ts', async () => {
  const seen = new Set<string>()
  const go = async (expected: string, act: () => Promise<unknown>) => {
    const { end, events } = await way(act)
    for (const event of events.split(' ')) seen.add(event)
    expect(end, events).toBe(expected)
  }
  const intent =
    (action: string, payload = {}, id?: string) =>
    () =>
      tally.intent({ action, payload, ...(id === undefined ? {} : { id }) })
  await go('committing', intent('serve.tea'))
  await go('executing', intent('serve.tea', { no: true }))
  await go('failed', intent('nobody.serves'))
  await go('failed', intent('system.grant', { package: 'unknown', capabilities: ['a.b'] }))
  await go('WAITING', intent('count.up', {}, 'one'))
  const [wait] = tally.runsOf.waits('one' as never)
  const run = await tally.attach('one')
  await go('failed', async () => {
    heard.push('stage.parsed', 'chosen.package', 'stage.measured', 'stage.lacking')
    heard.push(...(await denied(run, wait)))
  })
  const capabilities = ['storage.read', 'storage.write']
  await go('committing', intent('system.grant', { package: 'counter', capabilities }))
  await go('committing', intent('count.up'))
  await tally.intent({
    action: 'system.grant',
    payload: { package: 'caller', capabilities: ['contacts.read'] }
  })
  await go('committing', intent('call.out'))
  expect([...seen].sort()).toEqual([
    'chosen.block',
    'chosen.kernel',
    'chosen.package',
    'stage.called',
    'stage.executed',
    'stage.granted',
    'stage.lacking',
    'stage.measured',
    'stage.parsed',
    'stage.refused'
  ])
})

/** Stages that a denial leads to. The intent was parked: it may have begun again first. */
async function denied(
  run: Awaited<ReturnType<WiredRuntime['attach']>>,
  wait: { readonly token: string; readonly digest: string } | undefined
): Promise<readonly StageEvent[]> {
  const before = heard.splice(0)
  await run.deny(wait?.token ?? '', { digest: wait?.digest ?? '' })
  await run.result
  const after = heard.splice(0)
  heard.push(...before)
  return after.slice(after.lastIndexOf('stage.lacking') + 1)
}
