import { rm } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Hash, Json, RunId } from '../../../../src/core/index.js'
import type { WiredRuntime } from '../../../../src/runtime/index.js'
import { documentOf, temporaryDirectory } from '../../../support/snapshots.js'
import { filesWith, fillSubject, openSubjects, planted } from '../../../support/subjects.js'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
beforeEach(async () => {
  place = await temporaryDirectory('subjects')
})
afterEach(() => place.remove())

const open = (options = {}) => openSubjects(place.path('ledger'), options)
const subject = 'customer-17'
const never = { token: '', digest: '' as Hash }

it('G5: what runs with a subject keep stands in no file in clear, and reads as before', async () => {
  const tally = await open()
  await fillSubject(tally, subject)
  expect(await tally.verify()).toMatchObject({ ok: true, complete: true })
  const seen: unknown[] = []
  for await (const { value } of tally.journal(`${subject}-send`)) seen.push(value)
  expect(JSON.stringify(seen)).toContain(planted)
  await tally.close()
  expect(await filesWith(place.path('ledger'), planted)).toEqual([])
  const again = await open()
  expect(await again.verify()).toMatchObject({ ok: true, complete: true })
  expect(again.ledger.run(`${subject}-send` as RunId)?.started['input']).toEqual({ text: planted })
  const tagged = (await again.runs({ tag: planted, waiting: true })).items
  expect(tagged.map(({ id, tags }) => [id, tags])).toEqual([[`${subject}-asks`, [planted]]])
  const [wait] = (await again.waits()).items
  expect(wait?.runId).toBe(`${subject}-asks`)
  const run = await again.attach(`${subject}-asks`)
  const [{ token, digest } = never] = await run.waits()
  await run.resume(token, { value: planted, digest })
  expect(await run.result).toMatchObject({ status: 'done', response: { data: planted } })
  const same = again.begin(documentOf('send'), {
    ...{ id: `${subject}-send`, inputs: { text: planted }, subject }
  })
  expect(await same.result).toMatchObject({ status: 'done' })
  expect(await again.verify()).toMatchObject({ ok: true, complete: true })
  await again.close()
  expect(await filesWith(place.path('ledger'), planted)).toEqual([])
})

it('G6, L6: after an erasing nothing says what the runs have kept, and the ledger verifies', async () => {
  const tally = await open()
  await fillSubject(tally, subject)
  await fillSubject(tally, 'other', 'kept-Zr5Tn8Wd')
  await tally.begin(documentOf('keeps'), { id: 'k', inputs: { text: planted }, subject }).result
  const before = await tally.erase(subject, { dryRun: true })
  expect(before).toMatchObject({ runs: 6, archived: 0, stateKeys: ['kept', 'last'] })
  await expect(tally.erase(subject)).rejects.toMatchObject({ code: 'ledger.not_erased' })
  const waiting = await tally.attach(`${subject}-asks`)
  await waiting.cancel()
  await waiting.result
  await tally.begin(documentOf('removes'), { id: 'r', inputs: {}, subject }).result
  await tally.verify()
  expect(await tally.erase(subject)).toMatchObject({ runs: 7, stateKeys: ['last'] })
  const judge = async (one: typeof tally, label: string) => {
    const report = await one.verify()
    expect(report, label).toMatchObject({ ok: true })
    expect(report.notChecked, label).toContainEqual(
      expect.stringContaining('7 runs: the keys of their subjects were erased')
    )
    const erased = { code: 'ledger.erased' }
    await expect(one.attach(`${subject}-send`), label).rejects.toMatchObject(erased)
    const again = one.begin(documentOf('send'), {
      ...{ id: `${subject}-send`, inputs: { text: planted } }
    })
    await expect(again.result, label).rejects.toMatchObject(erased)
    const fresh = one.begin(documentOf('send'), { inputs: { text: 'new' }, subject })
    await expect(fresh.result, label).rejects.toMatchObject({ code: 'ledger.subject_erased' })
    const { items } = await one.queries.find({ limit: 100 })
    expect(
      items.map(({ id }) => id),
      label
    ).toContain(`${subject}-send`)
    expect(items.find(({ id }) => id === `${subject}-asks`)?.tags, label).toBeUndefined()
    expect((await one.queries.find({ tag: planted })).items, label).toEqual([])
    await asked(one, `${subject}-fails`)
    const kept = await (await one.attach('other-send')).result
    expect(kept, label).toMatchObject({
      status: 'done',
      response: { data: { text: 'kept-Zr5Tn8Wd' } }
    })
    expect(await one.erase(subject), label).toMatchObject({ runs: 7 })
    await one.begin(documentOf('other'), { inputs: {} }).result
  }
  await judge(tally, 'at once')
  await tally.close()
  expect(await filesWith(place.path('ledger'), planted)).toEqual([])
  const later = await open()
  await judge(later, 'later')
  await later.close()
  const again = await open()
  await again.close()
})

it('G5, L6: a start with a subject is no run that is kept without it, or under another', async () => {
  const tally = await open()
  const begin = (id: string, whose?: string) =>
    tally.begin(documentOf('other'), { id, inputs: {}, ...(whose ? { subject: whose } : {}) })
  await begin('plain').result
  await begin('kept', subject).result
  for (const [id, whose] of [
    ['plain', subject],
    ['kept', 'another']
  ] as const) {
    await expect(begin(id, whose).result).rejects.toMatchObject({ code: 'run.id_reused' })
  }
  for (const whose of [subject, undefined]) {
    expect(await begin('kept', whose).result).toMatchObject({ status: 'done' })
  }
  await tally.close()
})

it('P1, G6: runs that have read what an erased run wrote are not executed again, and are no damage', async () => {
  const tally = await open()
  const read = async (name: string) => {
    for (const isAtomic of [true, false]) {
      const nodes = { a: { block: name }, b: { block: 'other' } }
      const steps = { entry_point: 'a', nodes, transitions: { a: 'b' } }
      const whole = {
        entry_point: 'all',
        nodes: { all: { composite: { ...steps, atomic: true } } }
      }
      const head = { schema: 'tally-composite/1', name: `reads_${name}`, version: '1' }
      await tally.begin({ ...head, ...(isAtomic ? whole : steps) }).result
    }
  }
  await tally.begin(documentOf('keeps'), { inputs: { text: planted }, subject }).result
  for (const name of ['reads', 'reads_fails', 'changes']) await read(name)
  await tally.begin(documentOf('keeps'), { inputs: { text: 'seen' } }).result
  expect(await tally.verify()).toMatchObject({ ok: true, complete: true })
  await tally.erase(subject)
  const report = await tally.verify()
  expect(report.failure).toBeUndefined()
  expect(report.notChecked).toContainEqual(expect.stringContaining('state kept is withheld'))
  await tally.close()
})

it('K10, G6: keys of subjects that are elsewhere, or lost, keep no ledger in safe mode', async () => {
  const tally = await open()
  await tally.begin(documentOf('other'), { id: 'plain', inputs: {} }).result
  await tally.begin(documentOf('keeps'), { id: 'last', inputs: { text: planted }, subject }).result
  await tally.close()
  await rm(place.path('ledger/subjects'), { recursive: true })
  const again = await open()
  expect(again.status()).toMatchObject({ mode: 'ready' })
  expect(again.status().warnings).toContainEqual(expect.stringContaining('key of its subject'))
  await expect(again.attach('last' as RunId)).rejects.toMatchObject({ code: 'ledger.erased' })
  const { status } = await again.begin(documentOf('other'), { id: 'next', inputs: {} }).result
  expect(status).toBe('done')
  expect(await again.verify()).toMatchObject({ ok: true, complete: false })
  await again.close()
})

/** Asks everything that a page asks of an erased run: each answers, or says that it was erased. */
async function asked(tally: WiredRuntime, id: string): Promise<void> {
  const { queries } = tally
  const answers = [
    ...[queries.counts(), queries.waits({}), queries.log({}), queries.state({}), queries.doctor()],
    ...[queries.chart({ id }), queries.chartAt({ id }), queries.exceptions({ id })],
    ...[queries.calls({ id, path: 'root/first', step: 1 }), queries.resumable()],
    ...[queries.locate({ text: id }), queries.proof({ leaf: 0 }), queries.grants({})],
    ...[service(tally, 'show', { id }), service(tally, 'journal', { id })],
    service(tally, 'runs', {})
  ]
  const outcomes = await Promise.allSettled(answers)
  const codes = outcomes.map((one) =>
    one.status === 'fulfilled' ? 'answered' : (one.reason as { code?: string }).code
  )
  expect([...new Set(codes)].sort()).toEqual(['answered', 'ledger.erased'])
  const told = JSON.stringify(outcomes)
  expect(told).not.toContain(planted)
  const seen: unknown[] = []
  for await (const event of queries.feed({ since: '0.0' as never })) {
    seen.push(event)
    if (seen.length > 20) break
  }
  expect(JSON.stringify(seen)).not.toContain(planted)
}

async function service(tally: WiredRuntime, method: string, params: Json): Promise<unknown> {
  const { signal } = new AbortController()
  const answer = tally.service({ method, params, signal })
  if (answer instanceof Promise) return answer
  const events: unknown[] = []
  for await (const event of answer as AsyncIterable<Json>) events.push(event)
  return events
}
