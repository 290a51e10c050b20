import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { withOpeningMark } from '../../../../src/ledger/owner/opening-mark.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-opening-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const mark = () => join(folder, 'opening')
const work = () => withOpeningMark(folder, async () => readdir(folder))

describe('the mark of a process that opens a ledger', () => {
  it('L13: stands while it opens, refuses others meanwhile, and is gone afterwards', async () => {
    await withOpeningMark(folder, async () => {
      await expect(work()).rejects.toMatchObject({ code: 'ledger.locked' })
    })
    expect(await work()).toEqual(['opening'])
    expect(await readdir(folder)).toEqual([])
  })

  it('L13: is taken over from a process that is gone, and from one that takes too long', async () => {
    const { pid = 0 } = spawnSync(process.execPath, ['--version'])
    await writeFile(mark(), String(pid))
    expect(await work()).toEqual(['opening'])
    await writeFile(mark(), String(process.pid))
    await expect(work()).rejects.toMatchObject({ code: 'ledger.locked' })
    await utimes(mark(), 1, 1)
    expect(await work()).toEqual(['opening'])
  })
})
