import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentOf, type Ended, Project } from '../support/project.js'

/**
 * What goes wrong is reported with a code, a reason and a fix, and with an exit code of its class.
 */
let project: Project
beforeAll(async () => {
  project = await Project.withRun()
})
afterAll(() => project.remove())

function expectError(ended: Ended, code: string, exitCode: number): void {
  const error = documentOf(ended, 'error')
  expect(error).toMatchObject({ code })
  expect(String(error['fix'])).not.toBe('')
  expect(String(error['message'])).not.toMatch(/\{\w+\}/)
  expect(ended.code).toBe(exitCode)
}

const OTHER_USER = 65_534
/** Permissions do not bind the superuser. */
const asOther = process.getuid?.() === 0 ? { uid: OTHER_USER } : {}

describe('documents', () => {
  it('malformed YAML is reported with its line and column', async () => {
    const run = await project.tally(['run', 'malformed.yaml', '--json'])
    expectError(run, 'document.malformed', 2)
    expect(String(documentOf(run, 'error')['message'])).toMatch(/line \d+, column \d+/)
  })

  it('an unknown key is reported with its place, before the ledger is opened', async () => {
    const run = await project.tally(['run', 'invalid.yaml', '--dir', 'nowhere'])
    expect(run.code).toBe(2)
    expect(run.stdout).toMatch(/invalid\.yaml:\d+:\d+ .*blok/)
  })

  it('unknown blocks and conditions end the run before it begins', async () => {
    const block = await project.tally(['run', 'unknown-block.yaml'])
    expect(block.code).toBe(2)
    expect(block.stdout).toContain('nothing.of.this.name')
    const condition = await project.tally(['run', 'unknown-condition.yaml', '--json'])
    expect(condition.code).toBe(2)
    const { response } = documentOf(condition, 'result') as {
      readonly response: { readonly reason: string }
    }
    expect(response.reason).toBe('condition_resolution_error')
    expect((await project.tally(['runs'])).stdout).not.toContain('unknown')
  })

  it('a missing file is reported by its name', async () => {
    const run = await project.tally(['run', 'nothing.yaml', '--json'])
    expectError(run, 'cli.unreadable_file', 2)
    expect(String(documentOf(run, 'error')['message'])).toContain('nothing.yaml')
  })

  it('inputs that are not JSON are refused', async () => {
    expectError(
      await project.tally(['run', 'greet.yaml', '--inputs', '{', '--json']),
      'cli.usage',
      2
    )
  })
})

describe('usage', () => {
  it('unknown commands, options and missing arguments exit 2', async () => {
    for (const words of [
      ['bogus'],
      ['run'],
      ['run', 'greet.yaml', '--bogus'],
      ['log', '--last', 'x']
    ]) {
      expectError(await project.tally([...words, '--json']), 'cli.usage', 2)
    }
  })

  it('help and version exit 0', async () => {
    const help = await project.tally(['--help'])
    expect(help.code).toBe(0)
    expect(help.stdout).toContain('approve')
    const { version } = JSON.parse(await readFile('package.json', 'utf8'))
    expect((await project.tally(['--version'])).stdout).toBe(`${version}\n`)
  })

  it('unknown runs and receipts are not found', async () => {
    for (const words of [
      ['show', 'nothing'],
      ['approve', 'nothing'],
      ['resume', 'nothing']
    ]) {
      expectError(await project.tally([...words, '--json']), 'run.not_found', 2)
    }
    expectError(await project.tally(['show', '999', '--json']), 'receipt.not_found', 2)
    expectError(await project.tally(['show', 'f'.repeat(64), '--json']), 'receipt.not_found', 2)
  })
})

describe('ledgers', () => {
  it('a ledger that is not there, and one that is there already', async () => {
    expectError(await project.tally(['log', '--dir', 'none', '--json']), 'ledger.not_found', 2)
    const again = await project.tally(['init', '--insecure-plaintext-key', '--json'])
    expectError(again, 'ledger.exists', 2)
  })

  it('wrong and missing passphrases are refused; reading and verifying need none', async () => {
    const environment = { TALLY_PASSPHRASE: 'right' }
    const dir = ['--dir', 'sealed', '--json']
    expect((await project.tally(['init', ...dir], { environment })).code).toBe(0)
    const wrong = { environment: { TALLY_PASSPHRASE: 'wrong' } }
    const run = ['run', 'greet.yaml', ...dir]
    expectError(await project.tally(run, wrong), 'identity.wrong_passphrase', 2)
    expectError(await project.tally(run), 'identity.passphrase_missing', 2)
    expect((await project.tally(run, { environment })).code).toBe(0)
    expect((await project.tally(['verify', ...dir])).code).toBe(0)
    expect((await project.tally(['verify', '--replay', ...dir])).code).toBe(0)
    expect((await project.tally(['log', ...dir])).documents).toHaveLength(2)
  })

  it('a directory that may not be written to is reported as such', async () => {
    await chmod(project.folder, 0o755)
    await mkdir(project.path('closed'), { mode: 0o555 })
    const words = ['init', '--insecure-plaintext-key', '--dir', 'closed/ledger', '--json']
    const made = await project.tally(words, asOther)
    expect(made.code).toBe(1)
    expect(documentOf(made, 'error')).toMatchObject({ code: 'system.EACCES' })
    await chmod(project.path('.tally'), 0o555)
    const run = await project.tally(['run', 'greet.yaml', '--json'], asOther)
    await chmod(project.path('.tally'), 0o700)
    expect(run.code).not.toBe(0)
    expect(String(documentOf(run, 'error')['fix'])).not.toBe('')
  })

  it('a ledger of a newer version is refused', async () => {
    await cp(project.path('.tally'), project.path('newer'), { recursive: true })
    const marker = project.path('newer/marker.json')
    const text = await readFile(marker, 'utf8')
    await writeFile(marker, text.replace('"formatVersion":1', '"formatVersion":2'))
    expectError(await project.tally(['log', '--dir', 'newer', '--json']), 'ledger.newer_version', 2)
  })

  it('a damaged ledger fails verification with exit code 3', async () => {
    await cp(project.path('.tally'), project.path('copy'), { recursive: true })
    const clean = await project.tally(['verify', '--dir', 'copy', '--json'])
    expect(clean.code).toBe(0)
    expect(documentOf(clean, 'verification')).toMatchObject({ ok: true, receipts: 2 })
    await writeFile(project.path('copy/marker.json'), '{}')
    expectError(
      await project.tally(['verify', '--dir', 'copy', '--json']),
      'ledger.malformed_marker',
      3
    )
  })
})

describe('notes', () => {
  it('P5: a note kept elsewhere anchors the history, one in the ledger does not', async () => {
    expect((await project.tally(['note', '-o', 'note.txt'])).code).toBe(0)
    const written = await readFile(project.path('note.txt'), 'utf8')
    expect((await project.tally(['note'])).stdout).toBe(written)
    const anchored = await project.tally(['verify', '--note', 'note.txt', '--json'])
    expect(documentOf(anchored, 'verification')).toMatchObject({
      anchored: { upTo: 2, logSize: 2 }
    })
    expect((await project.tally(['note', '-o', '.tally/note.txt'])).code).toBe(0)
    const inside = await project.tally(['verify', '--note', '.tally/note.txt', '--json'])
    expectError(inside, 'cli.note_inside', 2)
    expectError(await project.tally(['note', '-o', 'note.txt', '--json']), 'cli.usage', 2)
  })
})
