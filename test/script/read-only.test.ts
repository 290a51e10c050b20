import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importSnapshot } from '../../src/index.js'
import { builtFile } from '../support/built.js'
import { documentOf, openSnapshotLedger } from '../support/snapshots.js'

/** The user nobody of every Linux: may read what everyone may, and write nothing here. */
const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-medium-'))
  chmodSync(directory, 0o755)
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** All names and bytes below a directory. */
function contents(path: string): readonly (readonly [string, string])[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const file = join(path, name)
      return [name, statSync(file).isFile() ? readFileSync(file, 'latin1') : 'directory'] as const
    })
}

function makeReadOnly(path: string): void {
  for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' })) {
    const file = join(path, name)
    chmodSync(file, statSync(file).isFile() ? 0o444 : 0o555)
  }
  chmodSync(path, 0o555)
}

describe('a ledger on a medium that cannot be written', () => {
  // Only root can become another user; anybody else is refused by the modes themselves.
  it('is listed, verified and exported, and keeps its bytes', async () => {
    const location = join(directory, 'ledger')
    const tally = await openSnapshotLedger(location, { create: 'if-absent' })
    for (let text = 0; text < 20; text += 1) {
      await tally.begin(documentOf('note'), { inputs: { text: `text ${text}` } }).result
    }
    // Copied while it is open: what is committed stands in LevelDB's log and in no table.
    const medium = join(directory, 'medium')
    await cp(location, medium, { recursive: true })
    await tally.close()
    makeReadOnly(medium)
    const before = contents(medium)
    const scratch = join(directory, 'scratch')
    const made = join(directory, 'made')
    for (const path of [scratch, made]) {
      spawnSync('mkdir', ['-m', '777', path])
      chmodSync(path, 0o777)
    }
    const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
    const tell = (...args: readonly string[]) =>
      spawnSync(process.execPath, [builtFile('cli/main.js'), ...args, '--dir', medium], {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], TMPDIR: scratch, HOME: scratch },
        cwd: made,
        ...user
      })
    const file = join(made, 'exported')
    const asked = [
      ['runs', '--json'],
      ['log', '--json'],
      ['verify'],
      ['export', file, '--unsigned']
    ].map((args) => tell(...args))
    expect(asked.map(({ status, stderr }) => [status, stderr])).toEqual(
      asked.map(() => [0, expect.not.stringContaining('error')])
    )
    expect(asked[0]?.stdout.match(/"status":"done"/g)).toHaveLength(20)
    expect(asked[2]?.stdout).toContain('chain ok')
    expect(contents(medium)).toEqual(before)
    expect((await readdir(scratch)).filter((name) => name.startsWith('tally-read-'))).toEqual([])
    const imported = await importSnapshot(join(directory, 'imported'), { file })
    expect(imported).toMatchObject({ outcome: 'created', report: { ok: true } })
  })
})
