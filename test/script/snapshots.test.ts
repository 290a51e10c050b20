import { mkdir, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentOf, Project } from '../support/project.js'

let project: Project
beforeAll(async () => {
  project = await Project.create()
  await project.tally(['init', '--insecure-plaintext-key'])
  await project.tally(['run', 'ask.yaml', '--id', 'open'])
})
afterAll(() => project.remove())

const there = ['--dir', 'there', '--json']

describe('a ledger that is moved by a snapshot', () => {
  it('P3, K10: is exported, imported, read, and taken over once its key is there', async () => {
    const exported = await project.tally(['export', 'all.snapshot.gz', '--json'])
    expect(exported.code).toBe(0)
    const { headRoot } = documentOf(exported, 'export')

    const imported = await project.tally(['import', 'all.snapshot.gz', ...there])
    expect(imported.code).toBe(0)
    expect(documentOf(imported, 'import')).toMatchObject({ headRoot, openRuns: ['open'] })
    expect((await project.tally(['verify', '--replay', ...there])).code).toBe(0)
    const runs = await project.tally(['runs', '--status', 'imported', ...there])
    expect(documentOf(runs, 'run')).toMatchObject({ id: 'open' })
    // Somebody else's import died here.
    await mkdir(project.path('there/data-9'))
    await project.write('there/data-9.pending', '')
    const doctor = await project.tally(['doctor', ...there])
    expect(doctor.stdout).toContain('imported, ready')
    expect(doctor.stdout).toContain('restoring: data-9')

    const refused = await project.tally(['resume', 'open', '--value', '3', ...there])
    expect(refused.code).toBe(5)
    expect(documentOf(refused, 'error')).toMatchObject({ code: 'ledger.follower' })

    const { identity } = documentOf(imported, 'import')
    const key = `.tally/keys/${String(identity)}.json`
    const taken = await project.tally(['import', '--take-over', '--key', key, ...there])
    expect(taken.code).toBe(0)
    const resumed = await project.tally(['resume', 'open', '--value', '3', ...there])
    expect(resumed.code).toBe(0)
    expect(await readFile(project.path('there/marker.json'), 'utf8')).not.toContain('followers')
  })

  it('P3: is refused when the file was cut, and the ledger stays what it was', async () => {
    await project.tally(['export', 'cut.snapshot'])
    const text = await readFile(project.path('cut.snapshot'), 'utf8')
    await project.write('cut.snapshot', text.slice(0, text.length / 2))
    const before = await readFile(project.path('.tally/marker.json'), 'utf8')
    const refused = await project.tally(['import', 'cut.snapshot', '--json'])
    expect(refused.code).toBe(3)
    expect(documentOf(refused, 'error')).toMatchObject({ code: 'snapshot.malformed' })
    expect(await readFile(project.path('.tally/marker.json'), 'utf8')).toBe(before)
  })
})
