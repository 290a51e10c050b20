import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ABI_VERSION,
  codeHashOf,
  directoryPackageStore,
  ENGINE_WASM_SHA256,
  encodePackage,
  makePackage,
  parsePackage
} from '../../../../src/capability/index.js'
import { type Hash, hashJson, sha256Hex } from '../../../../src/core/index.js'
import { guestPackage } from '../guest.js'

const one = guestPackage('export const run = () => 1')
const two = guestPackage('export const run = () => 2')
const malformed = expect.objectContaining({ code: 'capability.malformed_package' })

describe('code hashes', () => {
  it('cover manifest, module, interface and engine', () => {
    const { manifest, bundle, codeHash } = one
    const bundleSha256 = sha256Hex(bundle)
    expect(codeHash).toBe(
      hashJson({ abi: ABI_VERSION, bundleSha256, engine: ENGINE_WASM_SHA256, manifest })
    )
    expect(codeHashOf({ manifest: { ...manifest, version: '2' }, bundle })).not.toBe(codeHash)
    expect(two.codeHash).not.toBe(codeHash)
  })
})

describe('stored packages', () => {
  it('come back as they were, byte for byte', () => {
    const text = encodePackage(one)
    const read = parsePackage(text, one.codeHash)
    expect(read).toEqual(one)
    expect(encodePackage(read)).toBe(text)
  })

  it.each([
    ['another module', encodePackage(two)],
    ['spaces', encodePackage(one).replace('{', '{ ')],
    ['no JSON', '{'],
    ['another member', encodePackage(one).replace('{"abi"', '{"aaa":1,"abi"')],
    ['another interface', encodePackage(one).replace(ABI_VERSION, 'tally-abi/0')],
    ['another manifest', encodePackage(one).replace('"Guest"', '"Other"')],
    ['a refused manifest', encodePackage(one).replace('storage.read', 'storage.steal')]
  ])('are refused with %s', (_, text) => {
    expect(() => parsePackage(text, one.codeHash)).toThrow(malformed)
  })
})

describe('directoryPackageStore', () => {
  let directory = ''
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tally-store-'))
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  it('keeps packages by hash, lists and removes them', async () => {
    const store = directoryPackageStore(join(directory, 'packages'))
    expect(await store.list()).toEqual([])
    await store.write(one)
    await store.write(one)
    await store.write(two)
    expect(await store.list()).toEqual([one.codeHash, two.codeHash].sort())
    expect(await store.read(one.codeHash)).toEqual(one)
    await store.remove(one.codeHash)
    expect(await store.read(one.codeHash)).toBeUndefined()
    expect(await store.list()).toEqual([two.codeHash])
  })

  it('never hands out what was changed on disk', async () => {
    const store = directoryPackageStore(join(directory, 'changed'))
    await store.write(one)
    const file = join(directory, 'changed', `${one.codeHash}.json`)
    await writeFile(file, (await readFile(file, 'utf8')).replace('=> 1', '=> 3'))
    await expect(store.read(one.codeHash)).rejects.toEqual(malformed)
  })

  it('takes nothing but hashes as names', async () => {
    const store = directoryPackageStore(directory)
    await expect(store.read('../outside' as Hash)).rejects.toThrow(TypeError)
    expect(makePackage(one)).toEqual(one)
  })
})
