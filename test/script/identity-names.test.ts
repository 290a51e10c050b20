import { cp } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { holdStore, mainIdentity } from '../../src/ledger/index.js'
import { openLocation } from '../../src/runtime/index.js'
import { documentOf, Project } from '../support/project.js'
import { expectVerifyFailure } from '../support/verified-close.js'

let project: Project
let acme = ''
beforeAll(async () => {
  project = await Project.create()
  expect((await project.tally(['init', '--insecure-plaintext-key'])).code).toBe(0)
  const payload = JSON.stringify({ name: 'acme' })
  const create = ['intent', 'system.identity.create', '--payload', payload, '--json']
  const created = await project.tally(create)
  expect(created.code).toBe(0)
  acme = String(documentOf(created, 'intent')['identity'])
  const run = ['run', 'greet.yaml', '--id', 'of-acme', '--identity', 'acme']
  expect((await project.tally(run)).code).toBe(0)
  expect((await project.tally(['run', 'greet.yaml', '--id', 'of-main'])).code).toBe(0)
})
afterAll(async () => {
  // A main ledger that is damaged on purpose.
  expectVerifyFailure('head')
  await project.remove()
})

/** The runs of an identity, as they are listed. */
async function runsOf(...named: readonly string[]): Promise<readonly unknown[]> {
  const { code, documents } = await project.tally(['runs', '--json', ...named])
  expect(code).toBe(0)
  return documents.map(({ id }) => id).filter((id) => String(id).startsWith('of-'))
}

describe('an identity that has a name', () => {
  it('is listed with it', async () => {
    const { documents } = await project.tally(['identities', '--json'])
    const names = documents.map(({ identity, name }) => [identity === acme, name])
    expect(names.sort()).toEqual([
      [false, null],
      [true, 'acme']
    ])
    expect((await project.tally(['identities'])).stdout).toMatch(`${acme} acme`)
  })

  it('is meant by its name and by its id, by commands that read and that write', async () => {
    expect(await runsOf('--identity', 'acme')).toEqual(['of-acme'])
    expect(await runsOf('--identity', acme)).toEqual(['of-acme'])
    expect(await runsOf()).toEqual(['of-main'])
    const verified = await project.tally(['verify', '--json', '--identity', 'acme'])
    expect(documentOf(verified, 'verification')).toMatchObject({ ok: true, identity: acme })
    const note = await project.tally(['note', '--identity', 'acme'])
    expect(note.stdout).toContain(`tallystick/${acme}`)
  })

  it('stands in the commands that are printed', async () => {
    const { stderr } = await project.tally(['show', '999', '--identity', 'acme'])
    expect(stderr).toContain('tally log --identity acme')
  })

  it('is asked of the service that holds the ledger', async () => {
    const location = project.path('.tally')
    await using _held = await openLocation({ location, insecurePlaintextKey: true })
    expect(await runsOf('--identity', 'acme')).toEqual(['of-acme'])
    const { documents } = await project.tally(['identities', '--json'])
    expect(documents.map(({ name }) => name)).toContain('acme')
  })
})

describe('a name in a main ledger that is damaged', () => {
  it('means nothing, and the id does', async () => {
    await cp(project.path('.tally'), project.path('damaged'), { recursive: true })
    const held = await holdStore(project.path('damaged'))
    const main = mainIdentity(held.location.marker)
    await held.store.commit([{ puts: [], deletes: [`${main}/head`] }])
    await held.close()
    const there = ['--dir', 'damaged']
    const told = await project.tally(['runs', ...there, '--identity', 'acme'])
    expect(told.code).toBe(5)
    expect(told.stderr).toContain('[ledger.safe_mode]')
    expect(await runsOf(...there, '--identity', acme)).toEqual(['of-acme'])
    const listed = await project.tally(['identities', ...there])
    expect(listed.stdout).toContain('acme')
    expect(listed.stderr).toContain('not checked the ledger is in safe mode')
  })
})

describe('a name that no identity has', () => {
  it.each(['nobody', 'a b', '', 'a'.repeat(63)])('is refused: %j', async (name) => {
    const told = await project.tally(['runs', '--identity', name])
    expect(told.code).toBe(2)
    expect(told.stderr).toContain('[ledger.identity_missing]')
    // What is to be typed next does not carry it.
    expect(told.stderr).toContain('`tally identities` lists')
  })

  it('is looked for in no directory that has no ledger', async () => {
    const told = await project.tally(['runs', '--dir', 'nowhere', '--identity', 'acme'])
    expect(told.code).toBe(2)
    expect(told.stderr).toContain('[ledger.not_found]')
  })
})
