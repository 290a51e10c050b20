import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { differenceOf, reduced } from '../../support/console/pictures.js'
import { decodePng, encodePng, type Picture } from '../../support/console/png.js'
import { root } from '../../support/source.js'

/** What the comparison of screens finds, and what it lets pass, on the picture of one. */

const screen = decodePng(
  readFileSync(join(root, 'test/browser/pictures/the-ledger-verified-1280-light.png'))
)

/** The picture with another colour at some blocks. */
function painted(
  { width, height, rgb }: Picture,
  colour: (x: number, y: number, channel: number) => number | undefined
): Picture {
  const bytes = rgb.map((value, place) => {
    const block = Math.floor(place / 3)
    return colour(block % width, Math.floor(block / width), place % 3) ?? value
  })
  return { width, height, rgb: bytes }
}

// The button that verifies, in blocks of 4 pixels.
const isButton = (x: number, y: number) => x >= 190 && x < 217 && y >= 16 && y < 24
const at = (x: number, y: number, channel: number) =>
  screen.rgb[(y * screen.width + x) * 3 + channel]

describe('the comparison of screens', () => {
  it('finds a button that is missing, moved by eight pixels, or of another colour', () => {
    const missing = painted(screen, (x, y) => (isButton(x, y) ? 255 : undefined))
    const moved = painted(screen, (x, y, c) => (isButton(x, y) ? at(x - 2, y - 2, c) : undefined))
    const red = painted(screen, (x, y, c) => (isButton(x, y) && c === 0 ? 179 : undefined))
    for (const other of [missing, moved, red]) {
      expect.soft(differenceOf(other, screen)).toMatch(/looks otherwise at \d+, \d+ px/)
    }
    expect(differenceOf({ ...screen, height: screen.height - 1 }, screen)).toBe(
      'is of another size'
    )
  })

  it('lets pass letters that are a little darker, and one that is another', () => {
    const darker = painted(screen, (x, y, c) => Math.max(0, (at(x, y, c) ?? 0) - 24))
    const letter = painted(screen, (x, y) => (x < 2 && y < 3 ? 0 : undefined))
    expect(differenceOf(darker, screen)).toBeUndefined()
    expect(differenceOf(letter, screen)).toBeUndefined()
    expect(differenceOf(screen, screen)).toBeUndefined()
  })

  it('finds what differs a little everywhere', () => {
    const speckled = painted(screen, (x, y) => (x % 8 === 0 && y % 8 === 0 ? 128 : undefined))
    expect(differenceOf(speckled, screen)).toMatch(/% of its blocks/)
  })
})

describe('pictures', () => {
  it('are read as they were written, and reduced to the means of their blocks', () => {
    expect(decodePng(encodePng(screen))).toEqual(screen)
    const rgb = new Uint8Array(8 * 4 * 3).map((_, place) => (place % 24 < 12 ? 0 : 240))
    expect(reduced({ width: 8, height: 4, rgb })).toEqual({
      width: 2,
      height: 1,
      rgb: new Uint8Array([0, 0, 0, 240, 240, 240])
    })
  })
})
