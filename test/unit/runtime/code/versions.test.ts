import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Block, defineBlock } from '../../../../src/code/index.js'
import { type Json, ManualClock } from '../../../../src/core/index.js'
import type { Registrations, WiredRuntime } from '../../../../src/runtime/index.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../../support/ledger-on-disk.js'
import { counterPackage, PackageFolder } from '../../../support/packages.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'

let disk: LedgerOnDisk

ledgerForEachTest((made) => {
  disk = made
})

const open = (registrations: Registrations, resume = false): Promise<WiredRuntime> =>
  disk.open({ ...registrations, resume })

/** Says which version it is, before and after it waits for a person. */
function pay(version: string): Block {
  return defineBlock({
    name: 'pay',
    version,
    sideEffects: 'none',
    intents: ['pay.bill'],
    run: async (ctx) => {
      const asked = await ctx.effect(`look ${version}`, {
        sideEffects: 'none',
        perform: () => version
      })
      const { value } = await ctx.wait({ reason: 'external', request: `who pays? ${version}` })
      ctx.state.set('paid by', version)
      return { asked, value, version }
    }
  })
}

/** The same without a wait. */
function count(version: string): Block {
  return defineBlock({
    name: 'count',
    version,
    sideEffects: 'none',
    intents: ['count.up'],
    run: (ctx) => {
      const counted = (ctx.state.get<number>('counted') ?? 0) + 1
      ctx.state.set('counted', counted)
      return { counted, version }
    }
  })
}

const documentOf = (...blocks: readonly string[]): Json => ({
  schema: 'tally-composite/1',
  name: 'bill',
  version: '1.0.0',
  entry_point: 'n0',
  nodes: Object.fromEntries(blocks.map((block, index) => [`n${index}`, { block }])),
  transitions: Object.fromEntries(blocks.slice(1).map((_, index) => [`n${index}`, `n${index + 1}`]))
})

/** Starts a run and leaves it waiting in a ledger that is closed. */
async function parked(document: Json, registrations: Registrations): Promise<void> {
  const tally = await open(registrations)
  const run = tally.begin(document, { id: 'june' })
  run.result.catch(() => undefined)
  for await (const event of run) if (event.type === 'run.parked') break
  await disk.close()
}

async function answered(tally: WiredRuntime): Promise<Json> {
  const run = await tally.attach('june')
  const [wait] = await run.waits()
  if (wait === undefined) throw new Error('it does not wait')
  await run.resume(wait.token, { digest: wait.digest, value: 'ops' })
  const { response } = await run.result
  return response.data
}

const versionsIn = async (tally: WiredRuntime): Promise<readonly string[]> => {
  const ids: string[] = []
  for await (const { receipt } of tally.receipts()) ids.push(receipt.inputPayload.provider.id)
  return ids
}

describe('versions side by side', () => {
  it('B10: a name alone leads to the highest release, and an exact name to its version', async () => {
    const blocks = ['1.0.0', '1.10.0', '1.9.0', '2.0.0-rc.1', 'nightly'].map(count)
    const tally = await open({ blocks })
    const names = ['count', 'count@1.0.0', 'count@2.0.0-rc.1', 'count@nightly']
    const { response } = await tally.begin(documentOf(...names), { id: 'june' }).result
    expect(response).toMatchObject({ success: true })
    expect((await versionsIn(tally)).slice(0, -1)).toEqual([
      'count@1.10.0',
      'count@1.0.0',
      'count@2.0.0-rc.1',
      'count@nightly'
    ])
    const refused = await tally.begin(documentOf('count@3.0.0'), { id: 'july' }).result
    expect(refused.response).toMatchObject({ reason: 'invalid_graph' })
    expect(await tally.replay()).toMatchObject({ ok: true, complete: true })
  })

  it('B10: a fallback, an intent and its provider are chosen by version too', async () => {
    const tally = await open({ blocks: [count('1.0.0'), count('2.0.0'), fails] })
    const document = {
      ...(documentOf('fails') as object),
      nodes: { n0: { block: 'fails', recovery: [{ fallback: ['count@1.0.0'] }] } }
    }
    await tally.begin(document, { id: 'june' }).result
    await tally.intent({ action: 'count.up' })
    await tally.intent({ action: 'count.up', provider: 'count@1.0.0' })
    const none = await tally.intent({ action: 'count.up', provider: 'count@3.0.0' })
    expect(none).toMatchObject({ reason: 'no_provider' })
    const ids = await versionsIn(tally)
    expect(ids.filter((id) => id.startsWith('count'))).toEqual([
      'count@1.0.0',
      'count@2.0.0',
      'count@1.0.0'
    ])
    expect(await tally.replay()).toMatchObject({ ok: true, complete: true })
  })

  it('B10: the same version twice is refused, also of functions', async () => {
    await expect(open({ blocks: [count('1.0.0'), count('1.0.0')] })).rejects.toMatchObject({
      code: 'runtime.duplicate_name',
      message: expect.stringContaining('count@1.0.0')
    })
  })

  it('B10: conditions and repairs have versions, and pin them', async () => {
    const branching = {
      ...(documentOf('count', 'count') as object),
      transitions: {
        n0: [
          { condition: 'isDone', target: 'n1' },
          { condition: 'default', target: 'n2' }
        ]
      },
      nodes: { n0: { block: 'count' }, n1: { block: 'count' }, n2: { block: 'pay' } }
    }
    const blocks = [count('1.0.0'), pay('1.0.0')]
    const never = () => false
    const always = () => true
    const hashes: unknown[] = []
    for (const [id, conditions] of Object.entries({
      plain: { isDone: always },
      one: { 'isDone@1.0.0': always },
      two: { 'isDone@0.9.0': never, 'isDone@1.1.0': always },
      other: { isDone: always, 'isDone@1.1.0': always, 'isDone@3.0.0': never }
    })) {
      const tally = await open({ blocks, conditions })
      expect(await tally.begin(branching, { id }).result).toMatchObject({ status: 'done' })
      hashes.push(tally.run(id)?.started['definitionHash'])
      await disk.close()
    }
    const [plain, one, two, other] = hashes
    expect(other).toBe(plain)
    expect(new Set([plain, one, two]).size).toBe(3)
  })
})

const fails = defineBlock({
  name: 'fails',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => ctx.fail('no')
})

describe('a deploy while a run is parked', () => {
  const document = documentOf('pay', 'count')
  const old = { blocks: [pay('1.0.0'), count('1.0.0')] }
  const both = { blocks: [...old.blocks, pay('2.0.0'), count('2.0.0')] }
  const onlyNew = { blocks: [pay('2.0.0'), count('2.0.0')] }

  it('B10: a run continues with its own versions, and new runs start with the newer', async () => {
    await parked(document, old)
    const tally = await open(both, true)
    await answered(tally)
    const next = tally.begin(documentOf('count'), { id: 'july' })
    expect(await next.result).toMatchObject({ response: { data: { version: '2.0.0' } } })
    expect((await versionsIn(tally)).filter((id) => !id.startsWith('bill'))).toEqual([
      'pay@1.0.0',
      'count@1.0.0',
      'count@2.0.0'
    ])
    const whole = await tally.replay()
    expect(whole.failure).toBeUndefined()
    expect(whole).toMatchObject({ ok: true, complete: true })
    await disk.close()
    const later = await open(onlyNew)
    expect(later.status().mode).toBe('ready')
    const part = await later.verify()
    expect(part).toMatchObject({ ok: true, complete: false, reexecuted: 2 })
    expect(part.notChecked.join('\n')).toContain('count@1.0.0, pay@1.0.0 are not registered')
  })

  it('B10, L6: the same id with the same document attaches, whatever is deployed', async () => {
    await parked(document, old)
    const tally = await open(both)
    const again = tally.begin(document, { id: 'june' })
    again.result.catch(() => undefined)
    const [wait] = await again.waits()
    expect(wait?.request).toMatchObject({ request: 'who pays? 1.0.0' })
    expect(await answered(tally)).toMatchObject({ version: '1.0.0' })
    expect(await again.result).toMatchObject({ status: 'done' })
    await disk.close()
    const gone = await open({ blocks: [] })
    expect(await gone.begin(document, { id: 'june' }).result).toMatchObject({ status: 'done' })
    const other = gone.begin(documentOf('count'), { id: 'june' })
    await expect(other.result).rejects.toMatchObject({ code: 'run.id_reused' })
    const input = gone.begin(document, { id: 'june', inputs: { other: true } })
    await expect(input.result).rejects.toMatchObject({ code: 'run.id_reused' })
  })

  it('B10: a parked single-step run resumes with the block that started it', async () => {
    const first = await open(old)
    const asked = await first.intent({ id: 'june', action: 'pay.bill' })
    expect(asked).toMatchObject({ type: 'waiting' })
    await disk.close()
    const tally = await open(both, true)
    expect(await answered(tally)).toMatchObject({ asked: '1.0.0', version: '1.0.0' })
    expect(await tally.replay()).toMatchObject({ ok: true, complete: true })
  })

  it('B10: so does a step that is an intent', async () => {
    const input = { lit: { action: 'pay.bill', payload: {} } }
    const step = { ...(documentOf('intent') as object), nodes: { n0: { block: 'intent', input } } }
    await parked(step, old)
    const tally = await open(both, true)
    expect(await answered(tally)).toMatchObject({ asked: '1.0.0', version: '1.0.0' })
    expect(await tally.replay()).toMatchObject({ ok: true, complete: true })
  })

  it('B10: where its version is gone the run rests, and everything else works', async () => {
    await parked(document, old)
    const tally = await open(onlyNew, true)
    expect(tally.status().mode).toBe('ready')
    await tally.runsOf.withoutCode.warnings()
    expect(tally.status().warnings).toEqual([
      expect.stringMatching(/^run june rests: .*count@1\.0\.0, pay@1\.0\.0/)
    ])
    expect(await tally.begin(documentOf('count'), { id: 'july' }).result).toMatchObject({
      status: 'done'
    })
    const run = await tally.attach('june')
    const [wait] = await run.waits()
    const answer = run.resume(wait?.token ?? '', { digest: wait?.digest ?? '', value: 'ops' })
    await expect(answer).rejects.toMatchObject({
      code: 'run.code_missing',
      message: expect.stringContaining('count@1.0.0, pay@1.0.0')
    })
    expect(await tally.verify()).toMatchObject({ ok: true, complete: false })
    await disk.close()
    const whole = await open(both)
    await whole.runsOf.withoutCode.warnings()
    expect(whole.status().warnings).toEqual([])
    expect(await answered(whole)).toMatchObject({ counted: 2 })
    expect(await whole.replay()).toMatchObject({ ok: true, complete: true })
  })

  it('B10: the events of a run without its code say why it is parked', async () => {
    await parked(document, old)
    const tally = await open(onlyNew)
    await tally.runsOf.withoutCode.warnings()
    const seen: string[] = []
    for await (const event of await tally.attach('june')) {
      seen.push(event.type)
      if (event.type !== 'run.resting') continue
      expect(event.why).toContain('pay@1.0.0')
      break
    }
    expect(seen).toContain('waiting')
  })

  it('B10: one interrupted run whose code is gone keeps no other from being resumed', async () => {
    let opened = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      opened = resolve
    })
    const slow = (name: string) =>
      defineBlock({
        name,
        version: '1.0.0',
        sideEffects: 'none',
        run: async (ctx) => ctx.effect('gate', { perform: () => gate.then(() => name) })
      })
    const clock = new ManualClock()
    const tally = await disk.open({ blocks: [slow('a'), slow('b')], clock })
    for (const name of ['a', 'b']) {
      const run = tally.begin(documentOf(name), { id: name })
      run.result.catch(() => undefined)
      for await (const event of run) if (event.type === 'block.started') break
    }
    await disk.closeHanging(clock)
    opened()
    const later = await open({ blocks: [slow('b')] }, true)
    expect(await (await later.attach('b')).result).toMatchObject({ status: 'done' })
    expect(later.run('a')?.status).not.toBe('done')
    expect(later.status().warnings.join()).toContain('run a rests')
  })
})

describe('the question before a deploy', () => {
  const document = documentOf('pay', 'count')
  const old = { blocks: [pay('1.0.0'), count('1.0.0')] }

  it('B10: says of each open run whether it can continue, and which versions are missing', async () => {
    await parked(document, old)
    const same = await open(old)
    await same.begin(documentOf('count'), { id: 'ended' }).result
    expect(await same.checkUpgrade()).toEqual([
      {
        id: 'june',
        name: 'bill',
        status: 'waiting',
        ready: true,
        missing: [],
        problem: null,
        foldsUnderCurrent: null
      }
    ])
    await disk.close()
    const both = await open({ blocks: [...old.blocks, pay('2.0.0'), count('2.0.0')] })
    expect(await both.checkUpgrade()).toMatchObject([{ id: 'june', ready: true }])
    await disk.close()
    // An open wait names the code that asks: nothing else can have asked it.
    const newer = await open({ blocks: [pay('2.0.0'), count('2.0.0')] })
    expect(await newer.checkUpgrade()).toMatchObject([
      { ready: false, missing: ['count@1.0.0', 'pay@1.0.0'], foldsUnderCurrent: false }
    ])
  })

  it('B10: tells whether the history leads to the same states under the versions of now', async () => {
    await parked(documentOf('count', 'pay'), old)
    const newer = await open({ blocks: [pay('1.0.0'), count('2.0.0')] })
    expect(await newer.checkUpgrade()).toMatchObject([
      { ready: false, missing: ['count@1.0.0'], foldsUnderCurrent: true }
    ])
  })

  it('B10: a condition that decides otherwise now is found without running a block', async () => {
    const branching = {
      ...(documentOf('count', 'pay') as object),
      transitions: { n0: [{ condition: 'isDone', target: 'n1' }] }
    }
    expectVerifyFailure('journal.place')
    const { blocks } = old
    await parked(branching, { blocks, conditions: { isDone: () => true } })
    const tally = await open({ blocks, conditions: { isDone: () => false } })
    const [found] = await tally.checkUpgrade()
    expect(found).toMatchObject({ ready: false, missing: [] })
    expect(found?.problem).toMatch(/^entry \d+: /)
  })
})

describe('packages by their code', () => {
  it('K3: code that is given again is put back where the content store lacks it', async () => {
    const folder = await PackageFolder.create()
    const packages = [await folder.write(counterPackage)]
    await disk.open({ packages })
    await disk.close()
    await rm(join(disk.path, 'packages'), { recursive: true, force: true })
    const without = await disk.open({})
    expect(without.packages.refused).toMatchObject([{ code: 'missing_code' }])
    await disk.close()
    const tally = await disk.open({ packages })
    expect(tally.packages.refused).toEqual([])
    await disk.close()
    expect((await disk.open({})).packages.refused).toEqual([])
    await folder.remove()
  })
})
