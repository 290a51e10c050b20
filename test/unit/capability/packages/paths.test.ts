import { mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resolveInside, specifierProblem } from '../../../../src/capability/packages/paths.js'

describe('resolveInside', () => {
  let root = ''
  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'tally-paths-')))
    await writeFile(join(root, 'in.js'), '')
    await symlink('in.js', join(root, 'link.js'))
    await symlink(tmpdir(), join(root, 'out'))
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  it('finds files inside, and links that stay inside', async () => {
    expect(await resolveInside(root, 'in.js')).toEqual({ ok: true, path: join(root, 'in.js') })
    expect(await resolveInside(root, 'link.js')).toEqual({ ok: true, path: join(root, 'in.js') })
    expect(await resolveInside(root, 'none.js')).toMatchObject({
      refusal: { code: 'missing_file' }
    })
  })

  it.each([
    '',
    '.',
    '..',
    '../in.js',
    './in.js',
    'a/../in.js',
    '/in.js',
    'a//b',
    'in.js/',
    '~/in.js',
    '%2e%2e/in.js',
    '%252e%252e/in.js',
    '..\\in.js',
    '\\\\host\\in.js',
    'C:\\in.js',
    'C:/in.js',
    'file:///in.js',
    'node:fs',
    'in.js\0',
    '.hidden',
    'ｉn.js',
    'e\u0301.js',
    '\u2024\u2024/in.js',
    'out',
    'out/x'
  ])('T17: refuses %j', async (path) => {
    const found = await resolveInside(root, path)
    expect(found.ok).toBe(false)
    if (path !== 'out/x') expect(found).toMatchObject({ refusal: { code: 'path_outside' } })
  })

  it('leaves relative specifiers and names to the resolver, and nothing else', () => {
    expect(['./a.js', '../a', 'name', '@scope/name'].map(specifierProblem)).toEqual(
      Array(4).fill(undefined)
    )
    const strange = ['/a', 'node:fs', 'C:\\a', '#a', './%2e', 'a\\b', './a?b', 'a\0']
    expect(strange.map(specifierProblem)).not.toContain(undefined)
  })
})
