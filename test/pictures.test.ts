import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
// @ts-expect-error: a script, without types.
import { folder, pictures, themes, withTheme } from '../scripts/pictures-list.mjs'
import { addressIn, addressText } from '../src/console/page/pure/addresses.js'
import { pages, readPage, repository } from './support/snippets.js'

/** The pictures that `npm run pictures` takes, and the pages that show them. */

interface Picture {
  readonly name: string
  readonly path: string
}

const BYTES_MAX = 150 * 1024
const BYTES_MIN = 5 * 1024
const PIXELS_WIDE = 1280

const named = (pictures as readonly Picture[]).flatMap(({ name }) =>
  (themes as readonly string[]).map((theme) => withTheme(name, theme) as string)
)
const shown = pages().flatMap((page) =>
  [...readPage(page).matchAll(/(?:src|srcset)="([^"]+\.png)"/g)].map(([, path = '']) =>
    posix.join(posix.dirname(page), path)
  )
)

describe('pictures', () => {
  it('are there in both themes, small and not empty', () => {
    expect(readdirSync(join(repository, folder)).sort()).toEqual([...named].sort())
    for (const name of named) {
      const bytes = readFileSync(join(repository, folder, name))
      expect(bytes.subarray(1, 4).toString('latin1'), name).toBe('PNG')
      expect(bytes.readUInt32BE(16), name).toBe(PIXELS_WIDE)
      expect(bytes.length, name).toBeGreaterThan(BYTES_MIN)
      expect(bytes.length, name).toBeLessThanOrEqual(BYTES_MAX)
    }
  })

  it('show addresses that the page has', () => {
    for (const { path } of pictures as readonly Picture[]) {
      const { pathname, search } = new URL(path, 'http://console')
      expect(addressText(addressIn(pathname, search))).toBe(path)
    }
  })

  it('are those of the pages, each on one at least and in both themes', () => {
    expect([...new Set(shown)].sort()).toEqual(named.map((name) => `${folder}/${name}`).sort())
    const lights = shown.filter((path) => path.endsWith('-light.png'))
    expect(shown.filter((path) => path.endsWith('-dark.png')).sort()).toEqual(
      lights.map((path) => path.replace('-light', '-dark')).sort()
    )
  })
})
