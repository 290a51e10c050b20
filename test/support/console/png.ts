import { crc32, deflateSync, inflateSync } from 'node:zlib'

/** A picture as bytes of red, green and blue, row by row. */
export interface Picture {
  readonly width: number
  readonly height: number
  readonly rgb: Uint8Array
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
const RGB = 2
const RGBA = 6

/** Reads a PNG (W3C, third edition) of 8 bits a channel that is not interlaced. */
export function decodePng(file: Buffer): Picture {
  if (!file.subarray(0, 8).equals(SIGNATURE)) throw new Error('no PNG')
  const parts: Buffer[] = []
  let header = Buffer.alloc(13)
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at)
    const type = file.toString('latin1', at + 4, at + 8)
    const data = file.subarray(at + 8, at + 8 + length)
    if (type === 'IHDR') header = Buffer.from(data)
    if (type === 'IDAT') parts.push(data)
    at += length + 12
  }
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const [depth, colour, , , interlaced] = header.subarray(8)
  if (depth !== 8 || interlaced !== 0 || (colour !== RGB && colour !== RGBA)) {
    throw new Error('a PNG of another kind')
  }
  const channels = colour === RGB ? 3 : 4
  const rows = unfiltered(inflateSync(Buffer.concat(parts)), width * channels, channels)
  if (channels === 3) return { width, height, rgb: rows }
  const rgb = new Uint8Array(width * height * 3)
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    rgb.set(rows.subarray(pixel * 4, pixel * 4 + 3), pixel * 3)
  }
  return { width, height, rgb }
}

/** Takes back the filter of each row. */
function unfiltered(raw: Uint8Array, rowBytes: number, channels: number): Uint8Array {
  const height = raw.length / (rowBytes + 1)
  const rows = new Uint8Array(height * rowBytes)
  for (let row = 0; row < height; row += 1) {
    const filter = raw[row * (rowBytes + 1)] ?? 0
    for (let at = 0; at < rowBytes; at += 1) {
      const place = row * rowBytes + at
      const left = at < channels ? 0 : (rows[place - channels] ?? 0)
      const above = row === 0 ? 0 : (rows[place - rowBytes] ?? 0)
      const corner = row === 0 || at < channels ? 0 : (rows[place - rowBytes - channels] ?? 0)
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter] ?? 0
      rows[place] = (raw[row * (rowBytes + 1) + 1 + at] ?? 0) + guess
    }
  }
  return rows
}

function paeth(left: number, above: number, corner: number): number {
  const [toLeft, toAbove] = [Math.abs(above - corner), Math.abs(left - corner)]
  const toCorner = Math.abs(left + above - 2 * corner)
  if (toLeft <= toAbove && toLeft <= toCorner) return left
  return toAbove <= toCorner ? above : corner
}

export function encodePng({ width, height, rgb }: Picture): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, RGB, 0, 0, 0], 8)
  const rowBytes = width * 3
  const raw = Buffer.alloc(height * (rowBytes + 1))
  for (let row = 0; row < height; row += 1) {
    const start = row * (rowBytes + 1)
    // What changes little from row to row is small when differences to the row above are packed.
    raw[start] = 2
    for (let at = 0; at < rowBytes; at += 1) {
      const above = row === 0 ? 0 : (rgb[(row - 1) * rowBytes + at] ?? 0)
      raw[start + 1 + at] = (rgb[row * rowBytes + at] ?? 0) - above
    }
  }
  const packed = deflateSync(raw, { level: 9 })
  return Buffer.concat([
    SIGNATURE,
    part('IHDR', header),
    part('IDAT', packed),
    part('IEND', Buffer.alloc(0))
  ])
}

function part(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, check])
}
