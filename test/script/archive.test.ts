import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openLevelStore } from '../../src/ledger/index.js'
import { documentOf, Project } from '../support/project.js'

let project: Project
beforeAll(async () => {
  project = await Project.create()
  await project.tally(['init', '--insecure-plaintext-key'])
  await project.tally(['run', 'ask.yaml', '--id', 'open'])
  await project.tally(['run', 'ask.yaml', '--id', 'ended'])
  await project.tally(['resume', 'ended', '--value', '3'])
})
afterAll(() => project.remove())

const file = 'first.archive.gz'

it('G1: archives, checks, verifies and exports, and says of what is archived where it is', async () => {
  const archived = await project.tally(['archive', file, '--before', '2999-01-01', '--json'])
  expect(archived.code).toBe(0)
  const { sha256, receipts } = documentOf(archived, 'archive')
  expect(Number(receipts)).toBeGreaterThan(1)

  const checked = await project.tally(['archive', file, '--check', '--json', '--dir', 'nowhere'])
  expect(checked.code).toBe(0)
  expect(documentOf(checked, 'archive')).toMatchObject({ sha256, receipts })

  const alone = await project.tally(['verify'])
  expect(alone.code).toBe(0)
  expect(alone.stdout).toMatch(/archived in 1 archive/)
  const whole = await project.tally(['verify', '--archive', file, '--json'])
  expect(whole.code).toBe(0)
  expect(documentOf(whole, 'verification')).toMatchObject({ ok: true })
  expect(documentOf(whole, 'verification')).not.toHaveProperty('archived')

  const shown = await project.tally(['show', 'ended', '--json'])
  expect(shown.code).toBe(2)
  expect(documentOf(shown, 'error')).toMatchObject({
    code: 'ledger.archived',
    message: expect.stringContaining(file)
  })

  const refused = await project.tally(['export', 'all.snapshot.gz', '--json'])
  expect(documentOf(refused, 'error')).toMatchObject({ code: 'ledger.archived' })
  const exported = await project.tally(['export', 'all.snapshot.gz', '--archive', file])
  expect(exported.code).toBe(0)
  expect((await project.tally(['import', 'all.snapshot.gz', '--dir', 'there'])).code).toBe(0)

  const resumed = await project.tally(['resume', 'open', '--value', '4'])
  expect(resumed.code).toBe(0)
})

it('refuses a file that was altered, with the exit code of what does not verify', async () => {
  const bytes = await readFile(project.path(file))
  await writeFile(project.path('cut.archive.gz'), bytes.subarray(0, bytes.length / 2))
  const cut = await project.tally(['archive', 'cut.archive.gz', '--check', '--json'])
  expect(cut.code).toBe(3)
  expect(documentOf(cut, 'error')).toMatchObject({ code: 'archive.malformed' })
})

it('says what is missing', async () => {
  const none = await project.tally(['archive', 'x.archive', '--json'])
  expect(documentOf(none, 'error')).toMatchObject({ code: 'cli.usage' })
  const wrong = await project.tally(['archive', 'x.archive', '--before', 'soon', '--json'])
  expect(documentOf(wrong, 'error')).toMatchObject({ code: 'cli.usage' })
  const old = await project.tally(['archive', 'x.archive', '--before', '1999-01-01', '--json'])
  expect(documentOf(old, 'error')).toMatchObject({ code: 'archive.nothing' })
})

it('K2: makes a damaged ledger again with its archives, and changes nothing without them', async () => {
  const store = await openLevelStore({ path: project.path('.tally/data-1'), create: false })
  const deletes: string[] = []
  for await (const [key] of store.entries({ gte: '', lt: '\u{10ffff}' })) {
    if (key.endsWith('/archived')) deletes.push(key)
  }
  await store.commit([{ puts: [], deletes }])
  await store.close()
  const refused = await project.tally(['recover', '--cut', '--json'])
  expect(documentOf(refused, 'error')).toMatchObject({
    code: 'ledger.not_recoverable',
    message: expect.stringContaining('--archive FILE')
  })
  const recovered = await project.tally(['recover', '--cut', '--archive', file])
  expect(recovered.code).toBe(0)
  expect(recovered.stdout).toContain('left 0 commits behind in data-1')
  const shown = await project.tally(['show', 'ended', '--journal'])
  expect(shown.code).toBe(0)
  const verified = await project.tally(['verify', '--json'])
  expect(documentOf(verified, 'verification')).toMatchObject({ ok: true })
})
