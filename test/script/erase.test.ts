import { afterAll, beforeAll, expect, it } from 'vitest'
import { documentOf, Project } from '../support/project.js'

let project: Project
beforeAll(async () => {
  project = await Project.create()
  await project.tally(['init', '--insecure-plaintext-key'])
  await project.tally(['run', 'ask.yaml', '--id', 'hers', '--subject', 'customer-17'])
  await project.tally(['run', 'ask.yaml', '--id', 'nobodys'])
  await project.tally(['resume', 'nobodys', '--value', '4'])
})
afterAll(() => project.remove())

/** What is shown of a run once the key of its subject is gone. */
const closed = {
  ...{ id: 'hers', name: 'ask', status: 'done', input: null, response: null },
  notChecked: [expect.stringContaining('the key of its subject was erased')]
}

it('G6: erases what ended runs of a subject have kept, after it has said what that is', async () => {
  const open = await project.tally(['erase', 'customer-17', '--json'])
  expect(open.code).not.toBe(0)
  expect(open.stdout).toContain('hers')
  await project.tally(['resume', 'hers', '--value', '3'])

  const dry = await project.tally(['erase', 'customer-17', '--dry-run', '--json'])
  expect(dry.code).toBe(0)
  expect(documentOf(dry, 'erase')).toMatchObject({ runs: 1, archived: 0, stateKeys: [] })
  expect((await project.tally(['show', 'hers'])).code).toBe(0)

  const erased = await project.tally(['erase', 'customer-17'])
  expect(erased.code).toBe(0)
  expect(erased.stdout).toMatch(/erased: 1 runs? with \d+ entries/)
  expect(erased.stdout).toContain('not erased: ')

  expect(documentOf(await project.tally(['show', 'hers', '--json']), 'run')).toMatchObject(closed)
  expect((await project.tally(['show', 'nobodys'])).code).toBe(0)
  const listed = await project.tally(['runs', '--json'])
  expect(listed.stdout).toContain('hers')
})

it('G6: neither the name nor an id of the subject begins anything any more', async () => {
  const again = ['run', 'ask.yaml', '--json', '--id']
  const named = await project.tally([...again, 'next', '--subject', 'customer-17'])
  expect(documentOf(named, 'error')).toMatchObject({ code: 'ledger.subject_erased' })
  const same = await project.tally([...again, 'hers', '--subject', 'customer-17'])
  expect(same.code).not.toBe(0)
  const without = await project.tally([...again, 'hers'])
  expect(documentOf(without, 'error')).toMatchObject({ code: 'ledger.erased' })
  expect((await project.tally(['erase', 'customer-17'])).code).toBe(0)
})

it('verifies, recovers, travels and is examined with what is left', async () => {
  const verified = await project.tally(['verify', '--json'])
  expect(verified.code).toBe(0)
  expect(documentOf(verified, 'verification')).toMatchObject({ ok: true, complete: false })
  expect(verified.stdout).toContain('the keys of their subjects were erased')
  expect((await project.tally(['verify', '--complete'])).code).not.toBe(0)
  expect((await project.tally(['doctor'])).code).toBe(0)
  expect((await project.tally(['export', 'all.snapshot.gz'])).code).toBe(0)
  expect((await project.tally(['import', 'all.snapshot.gz', '--dir', 'there'])).code).toBe(0)
  const there = await project.tally(['show', 'hers', '--dir', 'there', '--json'])
  expect(documentOf(there, 'run')).toMatchObject(closed)
  expect((await project.tally(['recover'])).code).toBe(0)
  expect(documentOf(await project.tally(['show', 'hers', '--json']), 'run')).toMatchObject(closed)
})
