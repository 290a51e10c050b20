import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { syncDirectory } from '../../../src/identity/files.js'

it('a sync that fails fails those that share it, and not the next', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tally-sync-'))
  const path = join(folder, 'keys')
  try {
    const first = syncDirectory(path)
    const [second, third] = [syncDirectory(path), syncDirectory(path)]
    expect(third).toBe(second)
    expect(second).not.toBe(first)
    await expect(first).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(second).rejects.toMatchObject({ code: 'ENOENT' })
    await mkdir(path)
    await expect(syncDirectory(path)).resolves.toBeUndefined()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
