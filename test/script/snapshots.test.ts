import { mkdir, readFile, writeFile } from 'node:fs/promises'
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

    const whole = await readFile(project.path('all.snapshot.gz'))
    await writeFile(project.path('cut.snapshot.gz'), whole.subarray(0, whole.length / 2))
    const cut = await project.tally(['import', 'cut.snapshot.gz', ...there])
    expect(cut.code).toBe(3)
    expect(documentOf(cut, 'error')).toMatchObject({ code: 'snapshot.malformed' })

    const imported = await project.tally(['import', 'all.snapshot.gz', ...there])
    expect(imported.code).toBe(0)
    expect(documentOf(imported, 'import')).toMatchObject({ headRoot, openRuns: ['open'] })
    const runs = await project.tally(['runs', '--status', 'imported', ...there])
    expect(documentOf(runs, 'run')).toMatchObject({ id: 'open' })
    // Another import died here.
    await mkdir(project.path('there/data-9'))
    await project.write('there/data-9.pending', '')
    const doctor = await project.tally(['doctor', ...there])
    expect(doctor.stdout).toContain('imported, ready')
    expect(doctor.stdout).toContain('restoring: data-9')

    const refused = await project.tally(['note', ...there])
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
})
