import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSecretReference, limits, readSecret, readSecretFile } from '../../../src/core/index.js'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-secret-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const sources = (environment: Readonly<Record<string, string>> = {}) => ({
  environment,
  readFile: readSecretFile
})

describe('a reference to a secret', () => {
  it.each(['env:NAME', 'env:_a1', 'file:/run/secrets/key', 'file:key'])('is %s', (text) => {
    expect(isSecretReference(text)).toBe(true)
  })

  it.each(['s3cret', 'env:', 'env:1', 'env:A-B', 'file:', 'ENV:NAME', ''])('is not %j', (text) => {
    expect(isSecretReference(text)).toBe(false)
  })
})

describe('what stands behind it', () => {
  it('comes from what was handed in, as it is', async () => {
    await expect(readSecret('env:A', sources({ A: ' x\n' }))).resolves.toBe(' x\n')
    await expect(readSecret('env:toString', sources())).resolves.toBeUndefined()
    await expect(readSecret('A', sources({ A: 'x' }))).resolves.toBeUndefined()
    const asked: string[] = []
    const readFile = async (path: string) => {
      asked.push(path)
      return 'of the file'
    }
    await expect(readSecret('file:a:b', { environment: {}, readFile })).resolves.toBe('of the file')
    await expect(readSecret('a:b', { environment: {}, readFile })).resolves.toBeUndefined()
    expect(asked).toEqual(['a:b'])
  })

  it('is nothing when it is empty, too long, or no ordinary file', async () => {
    const path = join(directory, 'key')
    await writeFile(path, 'k'.repeat(limits.SECRET_BYTES_MAX))
    await expect(readSecretFile(path)).resolves.toHaveLength(limits.SECRET_BYTES_MAX)
    await writeFile(path, 'k'.repeat(limits.SECRET_BYTES_MAX + 1))
    await expect(readSecretFile(path)).resolves.toBeUndefined()
    await expect(readSecretFile(directory)).resolves.toBeUndefined()
    await expect(readSecretFile(join(directory, 'absent'))).resolves.toBeUndefined()
    await expect(readSecretFile('/dev/zero')).resolves.toBeUndefined()
    await expect(readSecret('env:EMPTY', sources({ EMPTY: ' \n' }))).resolves.toBeUndefined()
  })
})
