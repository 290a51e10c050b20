import { cp } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { alterRecords } from '../../src/cli/demo/alter.js'
import { holdStore } from '../../src/ledger/index.js'
import { documentOf, Project } from '../support/project.js'
import { expectVerifyFailure } from '../support/verified-close.js'

/** Ledgers whose second run was altered on disk: a result, and what a receipt says. */
let project: Project
const damaged = ['--dir', 'damaged', '--json']
const broken = ['--dir', 'broken', '--json']
beforeAll(async () => {
  project = await Project.create()
  expect((await project.tally(['init', '--insecure-plaintext-key'])).code).toBe(0)
  for (const name of ['Ada', 'Bo', 'Cy']) {
    const inputs = JSON.stringify({ name })
    const run = await project.tally(['run', 'greet.yaml', '--id', name, '--inputs', inputs])
    expect(run.code).toBe(0)
  }
  await alterCopy('damaged', ['hello Bo', 'hello Bob'])
  await alterCopy('broken', ['"runId":"Bo"', '"runId":"Di"'])
})
afterAll(async () => {
  expectVerifyFailure('receiptHash')
  await project.remove()
})

/** Copies the ledger and alters the copy, checksums and all. */
async function alterCopy(name: string, [from, to]: readonly [string, string]): Promise<void> {
  await cp(project.path('.tally'), project.path(name), { recursive: true })
  const held = await holdStore(project.path(name))
  const [identity] = held.location.marker.identities
  if (identity === undefined) throw new Error('the ledger has no identity')
  const altered = await alterRecords(held.store, identity, (text) => text.replaceAll(from, to))
  expect(altered).toBeGreaterThan(0)
  await held.close()
}

describe('a ledger that was altered', () => {
  it('P1: fails verification with exit code 3, naming receipt, field and both values', async () => {
    const verified = await project.tally(['verify', ...damaged])
    expect(verified.code).toBe(3)
    const { failure, notChecked } = documentOf(verified, 'verification') as {
      readonly failure: Readonly<Record<string, unknown>>
      readonly notChecked: readonly string[]
    }
    expect(failure).toMatchObject({ index: 2, field: expect.any(String) })
    expect(failure['signed']).not.toBe(failure['computed'])
    expect(notChecked).toContain('everything after the failure')
    const told = await project.tally(['verify', '--dir', 'damaged'])
    expect(told.stdout).toContain('verify: FAILED')
    expect(told.stdout).toContain('at receipt 2')
  })

  it('L4: opens in safe mode: it can be read, takes no run, and exits 5', async () => {
    expect((await project.tally(['log', ...broken])).code).toBe(0)
    // Each receipt is there, however little of them the index can say.
    for (const which of ['0', '1', '2', '4']) {
      expect((await project.tally(['show', which, ...broken])).code).toBe(0)
    }
    const none = await project.tally(['show', '9', ...broken])
    expect(documentOf(none, 'error')).toMatchObject({ code: 'receipt.not_found' })
    const run = await project.tally(['run', 'greet.yaml', ...broken])
    expect(run.code).toBe(5)
    expect(documentOf(run, 'error')).toMatchObject({ code: 'ledger.safe_mode' })
    const doctor = await project.tally(['doctor', ...broken])
    expect(doctor.code).toBe(1)
    expect(doctor.stdout).toContain('safe')
  })

  it.each(['packages', 'permissions', 'publish', 'queues', 'schedules'])(
    'L12: %s says beside what it lists that the ledger is in safe mode',
    async (command) => {
      const listed = await project.tally([command, '--dir', 'broken'])
      expect(listed.code).toBe(0)
      expect(listed.stderr).toContain('not checked the ledger is in safe mode: The ledger is')
      const sound = await project.tally([command])
      expect(sound.stderr).not.toContain('safe mode')
    }
  )

  it.each([
    ['archive', '--before', '2030-01-01', 'old.archive'],
    ['erase', 'somebody'],
    ['erase', 'somebody', '--dry-run'],
    ['prefer', 'mail.send', 'mail'],
    ['note'],
    ['publish', 'greet.yaml'],
    ['release', 'Ada'],
    ['run', 'greet.yaml'],
    ['schedules', 'nightly', '--pause'],
    ['uninstall', 'mail']
  ])(
    'K2: %s of it says that it is in safe mode, and what leads out, and exits 5',
    async (...given) => {
      const told = await project.tally([...given, '--dir', 'broken'])
      expect(told.code).toBe(5)
      expect(told.stderr).toContain('[ledger.safe_mode]')
      expect(told.stderr).toContain('tally recover --dir broken')
      const { code, stdout } = await project.tally([...given, ...broken])
      expect(code).toBe(5)
      const error = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .at(-1)
      expect(error).toMatchObject({ $type: 'error', code: 'ledger.safe_mode' })
    }
  )

  it('K10: doctor names what opening names, what ends it and what is lost', async () => {
    const doctor = await project.tally(['doctor', '--dir', 'broken'])
    expect(doctor.stdout).toContain('tally recover --cut')
    expect(doctor.stdout).toContain('Lost: every receipt after the first failure')
    const asked = await project.tally(['recover', '--dir', 'broken'])
    expect(asked.stderr).toContain('(ledger.corrupt)')
    expect(asked.stderr).toContain('"tally verify --dir broken" names')
    expect(asked.stderr).toContain('lost by it:')
  })

  it('K10: doctor executes the last receipt again with the configuration that is named', async () => {
    const without = await project.tally(['doctor'])
    expect(without.stdout).toMatch(/not checked\s+the last receipt, \d+, was not done again/)
    const named = await project.tally(['doctor', '--config', 'tally.config.ts'])
    expect(named.code).toBe(0)
    expect(named.stdout).not.toContain('was not done again')
  })

  it('K2: recover cuts only when told to, keeps the old data, and then all verifies', async () => {
    const asked = await project.tally(['recover', ...damaged])
    expect(asked.code).toBe(3)
    expect(documentOf(asked, 'error')).toMatchObject({ code: 'ledger.not_recoverable' })
    const cut = await project.tally(['recover', '--cut', ...damaged])
    expect(cut.code).toBe(0)
    expect(documentOf(cut, 'recovery')).toMatchObject({ kind: 'cut', receipts: 2, kept: 'data-1' })
    const verified = await project.tally(['verify', ...damaged])
    expect(documentOf(verified, 'verification')).toMatchObject({ ok: true, receipts: 2 })
    expect((await project.tally(['run', 'greet.yaml', '--id', 'next', ...damaged])).code).toBe(0)
  })
})
