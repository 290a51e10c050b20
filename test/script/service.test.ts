import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentOf, Project, type Started } from '../support/project.js'

/** L11: commands on a ledger that another process holds go through its socket. */
let project: Project
let service: Started
beforeAll(async () => {
  project = await Project.create()
  expect((await project.tally(['init', '--insecure-plaintext-key'])).code).toBe(0)
  service = project.start(['run', 'ask.yaml', '--id', 'held', '--wait', '--json'])
  await service.says('run.parked')
})
afterAll(() => project.remove())

/** Commands of a folder without configuration: the holder of the ledger knows the blocks. */
const elsewhere = () => ({ cwd: '/', dir: ['--dir', project.path('.tally')] })

describe('a ledger that is held', () => {
  it('L11: answers what only reads', async () => {
    const { cwd, dir } = elsewhere()
    const runs = await project.tally(['runs', '--json', ...dir], { cwd })
    expect(documentOf(runs, 'run')).toMatchObject({ id: 'held', status: 'waiting' })
    const shown = await project.tally(['show', 'held', ...dir], { cwd })
    expect(shown.stdout).toContain('how many?')
    const verified = await project.tally(['verify', '--replay', '--json', ...dir], { cwd })
    expect(verified.code).toBe(0)
    const doctor = await project.tally(['doctor', '--json', ...dir], { cwd })
    expect(doctor.stdout).toContain(`held by process ${service.child.pid}`)
    expect((await project.tally(['log', ...dir], { cwd })).code).toBe(0)
  })

  it('L11: runs documents with the blocks of its holder, and loads no configuration', async () => {
    const { cwd, dir } = elsewhere()
    const document = project.path('greet.yaml')
    const run = await project.tally(['run', document, '--id', 'guest', '--json', ...dir], { cwd })
    expect(run.code).toBe(0)
    expect(run.stderr).not.toContain('configuration')
    expect(documentOf(run, 'result')).toMatchObject({ id: 'guest', status: 'done' })
    const linted = await project.tally(['lint', project.path('unknown-block.yaml'), ...dir], {
      cwd
    })
    expect(linted.code).toBe(2)
    expect(linted.stdout).toContain('nothing.of.this.name')
  })

  it('L11: errors cross the socket with their code', async () => {
    const { cwd, dir } = elsewhere()
    const none = await project.tally(['show', 'nothing', '--json', ...dir], { cwd })
    expect(none.code).toBe(2)
    expect(documentOf(none, 'error')).toMatchObject({ code: 'run.not_found' })
    const recover = await project.tally(['recover', '--json', ...dir], { cwd })
    expect(recover.code).toBe(5)
    expect(documentOf(recover, 'error')).toMatchObject({ code: 'ledger.locked' })
  })

  it('Ctrl-C leaves a run that the holder drives alone', async () => {
    const { cwd, dir } = elsewhere()
    const words = ['run', project.path('slow.yaml'), '--id', 'theirs', '--json', ...dir]
    const started = project.start(words, { cwd })
    await started.says('effect.sealed')
    started.child.kill('SIGINT')
    const ended = await started.ended
    expect(ended.code).toBe(130)
    expect(ended.stderr).toContain('continues in the service')
    const again = await project.tally(words, { cwd })
    expect(again.code).toBe(0)
  })

  it('K2: the process that holds a ledger rotates its key', async () => {
    const { cwd, dir } = elsewhere()
    const rotated = await project.tally(['key', 'rotate', '--json', ...dir], { cwd })
    expect(rotated.code).toBe(0)
    const { publicKey, replaced } = documentOf(rotated, 'intent') as Record<string, string>
    expect(publicKey).not.toBe(replaced)
    const path = project.path(`.tally/keys/${replaced}`)
    expect(JSON.parse(await readFile(`${path}.json`, 'utf8'))).toMatchObject({ publicKey })
    expect(existsSync(`${path}.${replaced}.json`)).toBe(true)
  })

  it('W7: an answer from another process ends the run of the first, which shows it', async () => {
    const { cwd, dir } = elsewhere()
    const answered = await project.tally(['resume', 'held', '--value', '7', '--json', ...dir], {
      cwd
    })
    expect(answered.code).toBe(0)
    const ended = await service.ended
    expect(ended.code).toBe(0)
    expect(documentOf(ended, 'result')).toMatchObject({ response: { data: { answer: 7 } } })
    const after = await project.tally(['show', 'held', '--json', ...dir], { cwd })
    expect(documentOf(after, 'run')).toMatchObject({ status: 'done' })
  })
})

describe('commands at once', () => {
  it('take turns on a ledger that no process holds', async () => {
    const many = Array.from({ length: 4 }, (_, at) =>
      project.tally(['run', 'greet.yaml', '--id', `turn-${at}`, '--json'])
    )
    const ended = await Promise.all(many)
    expect(ended.filter(({ code }) => code !== 0)).toEqual([])
    expect((await project.tally(['verify'])).code).toBe(0)
  })
})
