import { createHash } from 'node:crypto'
import { Point } from '@noble/ed25519'

/**
 * Makes signatures on which Ed25519 libraries disagree (conformance.md §3), with the verdict of the
 * strict rule. The construction is the attacker's: it knows the scalars and adds torsion points,
 * encodes coordinates above p, and moves S by the group order.
 */
export interface HostileCase {
  readonly name: string
  readonly publicKey: string
  readonly message: string
  readonly signature: string
  readonly valid: boolean
}

const { p: PRIME, n: ORDER } = Point.CURVE()

/** The eight points whose order divides 8: order 1, 2, 4, 4, 8, 8, 8, 8 in some order. */
export const torsionPoints: readonly Point[] = (() => {
  const generator = Point.fromHex(
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'
  )
  const points: Point[] = []
  let point = Point.ZERO
  for (let index = 0; index < 8; index += 1) {
    points.push(point)
    point = point.add(generator)
  }
  return points
})()

/** All 32-byte strings that decode, leniently, to a point of small order. */
export const smallOrderEncodings: readonly string[] = (() => {
  const encodings = new Set<string>()
  for (const point of torsionPoints) {
    const { y } = point.toAffine()
    for (const value of [y, y + PRIME]) {
      if (value >= 2n ** 255n) continue
      for (const sign of [0n, 1n]) encodings.add(hex(littleEndian(value + (sign << 255n))))
    }
  }
  return [...encodings]
})()

export function hostileCases(): readonly HostileCase[] {
  return [...torsionCases(), ...smallOrderCases(), ...scalarCases(), ...nonCanonicalCases()]
}

interface Draft {
  readonly name: string
  readonly key: Point | string
  readonly secret: bigint
  readonly commitment: Point | string
  readonly nonce: bigint
  readonly valid: boolean
  readonly move?: bigint
}

function sealed({ name, key, secret, commitment, nonce, valid, move = 0n }: Draft): HostileCase {
  const publicKey = typeof key === 'string' ? key : hex(key.toBytes())
  const r = typeof commitment === 'string' ? commitment : hex(commitment.toBytes())
  const message = hex(new TextEncoder().encode(name))
  const s = ((nonce + challenge(r, publicKey, message) * secret) % ORDER) + move
  return { name, publicKey, message, signature: r + hex(littleEndian(s)), valid }
}

function torsionCases(): readonly HostileCase[] {
  const secret = scalarOf('secret')
  const nonce = scalarOf('nonce')
  const key = Point.BASE.multiply(secret)
  const commitment = Point.BASE.multiply(nonce)
  return torsionPoints.flatMap((torsion, index) => [
    sealed({
      name: `honest key, torsion point ${index} added to R`,
      key,
      secret,
      commitment: commitment.add(torsion),
      nonce,
      valid: index === 0
    }),
    ...Array.from({ length: 16 }, (_, attempt) => mixedKeyCase(torsion, index, attempt))
  ])
}

/** A key of mixed order passes only when the challenge happens to cancel the torsion part. */
function mixedKeyCase(torsion: Point, index: number, attempt: number): HostileCase {
  const secret = scalarOf('mixed secret')
  const nonce = scalarOf(`mixed nonce ${attempt}`)
  const key = Point.BASE.multiply(secret).add(torsion)
  const commitment = Point.BASE.multiply(nonce)
  const name = `key with torsion point ${index}, attempt ${attempt}`
  const draft = sealed({ name, key, secret, commitment, nonce, valid: false })
  const k = challenge(draft.signature.slice(0, 64), draft.publicKey, draft.message)
  return { ...draft, valid: torsion.multiply(k % 8n, false).is0() }
}

function smallOrderCases(): readonly HostileCase[] {
  const nonce = scalarOf('small nonce')
  const secret = scalarOf('small secret')
  return smallOrderEncodings.flatMap((encoding, index) => [
    sealed({
      name: `small-order key ${index}`,
      key: encoding,
      secret: 0n,
      commitment: Point.BASE.multiply(nonce),
      nonce,
      valid: false
    }),
    sealed({
      name: `small-order R ${index}`,
      key: Point.BASE.multiply(secret),
      secret,
      commitment: encoding,
      nonce: 0n,
      valid: false
    }),
    ...smallOrderEncodings.map((other, otherIndex) =>
      sealed({
        name: `small-order key ${index} and R ${otherIndex}`,
        key: encoding,
        secret: 0n,
        commitment: other,
        nonce: 0n,
        valid: false
      })
    )
  ])
}

function scalarCases(): readonly HostileCase[] {
  const secret = scalarOf('secret')
  const nonce = scalarOf('nonce')
  const key = Point.BASE.multiply(secret)
  const commitment = Point.BASE.multiply(nonce)
  return [0n, 1n, 2n, 7n, 15n].map((times) =>
    sealed({
      name: `S + ${times} L`,
      key,
      secret,
      commitment,
      nonce,
      move: times * ORDER,
      valid: times === 0n
    })
  )
}

/** Keys and commitments with y >= p: the 19 encodings above the field, with both signs. */
function nonCanonicalCases(): readonly HostileCase[] {
  const secret = scalarOf('secret')
  const nonce = scalarOf('nonce')
  return Array.from({ length: 19 }, (_, offset) => BigInt(offset)).flatMap((offset) =>
    [0n, 1n].flatMap((sign) => {
      const encoding = hex(littleEndian(PRIME + offset + (sign << 255n)))
      const label = `p + ${offset}, sign ${sign}`
      const commitment = Point.BASE.multiply(nonce)
      const key = Point.BASE.multiply(secret)
      return [
        sealed({ name: `key ${label}`, key: encoding, secret, commitment, nonce, valid: false }),
        sealed({ name: `R ${label}`, key, secret, commitment: encoding, nonce, valid: false })
      ]
    })
  )
}

function challenge(r: string, publicKey: string, message: string): bigint {
  const digest = createHash('sha512')
    .update(Buffer.from(r + publicKey + message, 'hex'))
    .digest()
  return fromLittleEndian(digest) % ORDER
}

function scalarOf(label: string): bigint {
  return fromLittleEndian(createHash('sha512').update(label).digest()) % ORDER
}

function fromLittleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)
}

function littleEndian(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => Number((value >> BigInt(8 * index)) & 255n))
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
