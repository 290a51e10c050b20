import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { documentedSurface, publicSurface } from './support/api.js'
import { entriesToCome } from './support/rooms.js'
import { root } from './support/source.js'

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const typed: Readonly<Record<string, { readonly types?: string }>> = manifest.exports

/** Entry points with types: subpath and the path of their declarations. */
const entries = Object.entries(typed)
  .flatMap(([subpath, { types }]) => (types === undefined ? [] : [{ subpath, types }]))
  .filter(({ types }) => !entriesToCome.includes(types))

/** A change of a public name or type is a decision: `npm run api` records it. */
describe('the public surface', () => {
  it.each(entries)('of $subpath is the recorded one', async ({ subpath, types }) => {
    const name = subpath === '.' ? 'tallystick' : `tallystick-${subpath.slice(2).replace('/', '-')}`
    await expect(publicSurface(types)).toMatchFileSnapshot(`./api/${name}.txt`)
  })

  it.each(entries)('says of each name of $subpath what it is', ({ types }) => {
    const silent = documentedSurface(types).filter(({ text }) => text === '')
    expect(silent.map(({ name }) => name)).toEqual([])
  })

  it('names no page that is not shipped', () => {
    const named = entries.flatMap(({ types }) =>
      documentedSurface(types).flatMap(({ name, text, declarations }) =>
        [...`${text}${declarations.join('')}`.matchAll(/[\w/-]+\.md\b/g)].map(([page]) => ({
          name,
          page
        }))
      )
    )
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter(({ page }) => !existsSync(join(root, page)))).toEqual([])
  })

  it('has a built file for every path that package.json names', () => {
    const targets = [
      ...Object.values(manifest.bin),
      ...Object.values(manifest.exports).flatMap((target) =>
        typeof target === 'object' && target !== null ? Object.values(target) : [target]
      )
    ].map(String)
    expect(targets.length).toBeGreaterThan(4)
    const missing = targets.filter((target) => !existsSync(join(root, target)))
    expect(missing.filter((target) => !entriesToCome.includes(target))).toEqual([])
  })
})
