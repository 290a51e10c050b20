import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { root } from '../source.js'
import { decodePng, encodePng, type Picture } from './png.js'

/**
 * Compares what a screen looks like with its committed picture, in blocks: the mean colour of each
 * 4 by 4 pixels. Edges of letters differ between renderers by less than a block's tolerance, and
 * what is moved, missing or of another colour by more, in many blocks side by side.
 */

const BLOCK = 4
/** Difference of one channel from which a block counts as another. */
const DIFFERENCE_MIN = 40
/** Of blocks, how many may be others. */
const OTHERS_MAX = 0.01
/** Blocks across a tile, and how many of one may be others. Other rendering of letters: 8. */
const TILE = 8
const OTHERS_OF_TILE_MAX = 12
/** Colours are kept to these steps: the file is half as large. */
const STEP = 8

const folder = join(root, 'test/browser/pictures')
/** Screens as they were, for whoever looks into a difference. */
const kept = join(root, 'node_modules/.cache/pictures')

/** What is wrong with the look of the page, in words; undefined: nothing. */
export async function pictureProblem(page: Page, name: string): Promise<string | undefined> {
  await page.evaluate('document.fonts.ready')
  await page.waitForSelector('.toast', { state: 'detached' })
  // Its other options put styles into the page, which the page's policy refuses.
  const shot = await page.screenshot({ animations: 'allow', caret: 'initial' })
  mkdirSync(kept, { recursive: true })
  const seen = join(kept, `${name}.png`)
  writeFileSync(seen, shot)
  const found = reduced(decodePng(shot))
  const file = join(folder, `${name}.png`)
  if (process.env['UPDATE_PICTURES'] === '1') {
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, encodePng(found))
    return undefined
  }
  if (!existsSync(file)) return `${name} has no picture: make one with UPDATE_PICTURES=1`
  const difference = differenceOf(found, decodePng(readFileSync(file)))
  return difference === undefined ? undefined : `${name} ${difference}: see ${seen}`
}

/** How two pictures of blocks differ, in words; undefined: no more than by their letters. */
export function differenceOf(one: Picture, other: Picture): string | undefined {
  const { width, height, rgb } = one
  if (width !== other.width || height !== other.height) return 'is of another size'
  const tiles = new Map<string, number>()
  let count = 0
  for (let block = 0; block < width * height; block += 1) {
    if (!isOther(rgb, other.rgb, block * 3)) continue
    const tile = `${Math.floor((block % width) / TILE)} ${Math.floor(block / width / TILE)}`
    tiles.set(tile, (tiles.get(tile) ?? 0) + 1)
    count += 1
  }
  const [tile = '', most = 0] = [...tiles].sort(([, a], [, b]) => b - a)[0] ?? []
  if (most > OTHERS_OF_TILE_MAX) {
    const [x, y] = tile.split(' ').map((place) => Number(place) * TILE * BLOCK)
    return `looks otherwise at ${x}, ${y} px (${most} blocks of ${TILE * TILE})`
  }
  const part = count / (width * height)
  if (part > OTHERS_MAX) return `looks otherwise in ${(part * 100).toFixed(2)} % of its blocks`
  return undefined
}

function isOther(one: Uint8Array, other: Uint8Array, place: number): boolean {
  return [place, place + 1, place + 2].some(
    (at) => Math.abs((one[at] ?? 0) - (other[at] ?? 0)) > DIFFERENCE_MIN
  )
}

/** The mean colours of blocks. */
export function reduced({ width, height, rgb }: Picture): Picture {
  const [across, down] = [Math.floor(width / BLOCK), Math.floor(height / BLOCK)]
  const blocks = new Uint8Array(across * down * 3)
  for (let place = 0; place < blocks.length; place += 1) {
    const channel = place % 3
    const left = (((place - channel) / 3) % across) * BLOCK
    const top = Math.floor((place - channel) / 3 / across) * BLOCK
    let sum = 0
    for (let pixel = 0; pixel < BLOCK * BLOCK; pixel += 1) {
      const x = left + (pixel % BLOCK)
      const y = top + Math.floor(pixel / BLOCK)
      sum += rgb[(y * width + x) * 3 + channel] ?? 0
    }
    const mean = sum / (BLOCK * BLOCK)
    blocks[place] = Math.min(255, Math.round(mean / STEP) * STEP)
  }
  return { width: across, height: down, rgb: blocks }
}
