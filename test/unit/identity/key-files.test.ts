import { link, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemRandom } from '../../../src/core/index.js'
import {
  createKeyFile,
  generateIdentity,
  type IdentityKeys,
  KeyFiles,
  keyFileIn
} from '../../../src/identity/index.js'

let directory: string
let first: IdentityKeys
let files: KeyFiles

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-key-files-'))
  first = generateIdentity()
  const { identity } = first
  await createKeyFile({
    path: keyFileIn(directory, identity),
    keys: first,
    insecurePlaintext: true
  })
  files = new KeyFiles({ directory, identity })
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const named = (publicKey: string) => join(directory, `${first.identity}.${publicKey}.json`)

describe('key files', () => {
  it('I8: the next key has a file of its own before anybody uses it', async () => {
    const next = await files.prepare(first, systemRandom)
    expect(next.identity).toBe(first.identity)
    expect(next.blobKey).toEqual(first.blobKey)
    expect((await files.load()).publicKey).toBe(first.publicKey)
    expect((await files.load(next.publicKey)).seed).toEqual(next.seed)
    expect((await stat(named(`${next.publicKey}.next`))).mode & 0o777).toBe(0o600)
  })

  it('I8: it takes the place of the one before, which keeps a file; half done, it is done again', async () => {
    for (const isHalf of [false, true]) {
      const before = await files.load()
      const next = await files.prepare(before, systemRandom)
      if (isHalf) await link(keyFileIn(directory, first.identity), named(before.publicKey))
      await files.use(next.publicKey)
      expect((await files.load()).publicKey).toBe(next.publicKey)
      expect((await files.load(before.publicKey)).seed).toEqual(before.seed)
    }
    expect(await readdir(directory)).toHaveLength(3)
  })

  it('I9: only a key that destroy names is destroyed', async () => {
    const next = await files.prepare(first, systemRandom)
    await files.use(next.publicKey)
    expect(await files.destroy(first.publicKey)).toBe(true)
    expect(await files.destroy(first.publicKey)).toBe(false)
    await expect(files.load(first.publicKey)).rejects.toMatchObject({
      code: 'identity.key_file_missing'
    })
    expect((await files.load()).publicKey).toBe(next.publicKey)
  })
})
