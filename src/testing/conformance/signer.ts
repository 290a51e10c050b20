import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { sha256Hex } from '../../core/index.js'
import {
  isStrictPublicKey,
  type PoolMember,
  publicKeyBytes,
  type Signer,
  verify
} from '../../identity/index.js'
import { type ConformanceCheck, type Opened, runCheck } from './check.js'

/** One check of {@link signerConformance}. */
export type SignerCheck = ConformanceCheck<SignerDriver>

/** What the suite needs of a signer under test. */
export interface SignerDriver {
  open(): Promise<Signer>
  /**
   * Cuts the signer off from what holds its key, until what is returned is called; leave it out for
   * a signer that holds the key itself.
   */
  cutOff?(signer: Signer): Promise<() => Promise<void>>
}

/**
 * The suite that every signer passes; `signMany`, `joinPool` and `close` where it has them. Run
 * each check under the test runner of your choice.
 */
export const signerConformance: readonly SignerCheck[] = [
  check('names the key that it signs with, in lower hex', namesKey),
  check('signs a hash by the strict rule', signsHash),
  check('signs messages of any length as they are', signsAnyLength),
  check('gives a message the same signature each time', repeats),
  check('gives each of many calls at once its own signature', signsAtOnce),
  check('signs many hashes in their order, as it signs each', signsMany),
  check('gives all signatures of many hashes or none, also while it is closed', givesAllOrNone),
  check('a pool gives signatures in the order of put, those of each member apart', keepsPools),
  check('a member of a pool leaves it more than once', leavesPool),
  check('fails while it is cut off from its key, and signs again later', survivesCut),
  check('refuses to sign once it is closed, and is closed more than once', closes)
]

function check(name: string, act: (test: Test) => Promise<void>): SignerCheck {
  return {
    name,
    run: (driver, options = {}) =>
      runCheck(name, options, async (opened) => {
        const signer = await driver.open()
        opened.onEnd(() => signer.close?.())
        await act({ signer, driver, opened })
      })
  }
}

interface Test {
  readonly signer: Signer
  readonly driver: SignerDriver
  readonly opened: Opened
}

const SIGNATURE_BYTES = 64
const CALLS = 24

async function namesKey({ signer }: Test): Promise<void> {
  const { publicKey } = signer
  ok(isStrictPublicKey(publicKey), 'it is a key of the strict rule')
  await signed(signer, hashOf(0))
  equal(signer.publicKey, publicKey)
}

async function signsHash({ signer }: Test): Promise<void> {
  const signature = await signed(signer, hashOf(1))
  const key = publicKeyBytes(signer.publicKey)
  ok(!verify(signature, hashOf(2), key), 'it signs that hash and no other')
}

async function signsAnyLength({ signer }: Test): Promise<void> {
  for (const length of [0, 1, 31, 33, 64, 65, 200, 5_000]) {
    await signed(signer, Buffer.alloc(length, length))
  }
}

async function repeats({ signer }: Test): Promise<void> {
  const first = await signed(signer, hashOf(3))
  deepEqual(await signed(signer, hashOf(3)), first)
}

async function signsAtOnce({ signer }: Test): Promise<void> {
  await Promise.all(Array.from({ length: CALLS }, (_, at) => signed(signer, hashOf(at))))
}

async function signsMany({ signer }: Test): Promise<void> {
  if (signer.signMany === undefined) return
  deepEqual(Buffer.from(await signer.signMany(new Uint8Array(0))), Buffer.alloc(0))
  for (const count of [1, 2, CALLS]) {
    const hashes = Array.from({ length: count }, (_, at) => hashOf(at))
    const signatures: Buffer = Buffer.from(await signer.signMany(Buffer.concat(hashes)))
    deepEqual(signatures, await signedEach(signer, hashes))
  }
}

async function givesAllOrNone({ signer }: Test): Promise<void> {
  if (signer.signMany === undefined) return
  const hashes = Array.from({ length: CALLS }, (_, at) => hashOf(at))
  const signing = signer.signMany(Buffer.concat(hashes)).catch(() => undefined)
  await signer.close?.()
  const signatures = await signing
  if (signatures === undefined) return
  equal(signatures.byteLength, CALLS * SIGNATURE_BYTES)
  const key = publicKeyBytes(signer.publicKey)
  for (const [at, hash] of hashes.entries()) ok(verify(signatureAt(signatures, at), hash, key))
}

async function keepsPools({ signer, opened }: Test): Promise<void> {
  const join = () => {
    const member = signer.joinPool?.()
    opened.onEnd(() => member?.close())
    return member
  }
  const members = [join(), join()].filter((member) => member !== undefined)
  for (const member of members) equal(member.collect().byteLength, 0)
  for (let round = 0; round < 2; round += 1) {
    const put = members.map((): Buffer[] => [])
    const capacity = Math.min(CALLS, ...members.map((member) => member.capacity))
    for (let at = 0; at < capacity; at += 1) {
      for (const [index, member] of members.entries()) {
        const hash = hashOf(at * members.length + index + round * 1_000)
        member.put(sha256Text(hash))
        put[index]?.push(hash)
      }
    }
    for (const [index, member] of members.entries()) {
      deepEqual(collected(member), await signedEach(signer, put[index] ?? []))
    }
  }
}

async function leavesPool({ signer }: Test): Promise<void> {
  const member = signer.joinPool?.()
  if (member === undefined) return
  member.put(sha256Text(hashOf(1)))
  await member.close()
  await member.close()
  await signed(signer, hashOf(1))
}

async function survivesCut({ signer, driver, opened }: Test): Promise<void> {
  if (driver.cutOff === undefined) return
  const reconnect = await driver.cutOff(signer)
  let isCut = true
  const again = async () => {
    if (isCut) await reconnect()
    isCut = false
  }
  opened.onEnd(again)
  await rejects(async () => signer.sign(hashOf(1)))
  const { signMany } = signer
  if (signMany !== undefined) await rejects(async () => signMany.call(signer, hashOf(1)))
  await again()
  await signed(signer, hashOf(1))
}

async function closes({ signer }: Test): Promise<void> {
  if (signer.close === undefined) return
  const pending = signed(signer, hashOf(1)).catch(() => undefined)
  await signer.close()
  await pending
  await rejects(async () => signer.sign(hashOf(2)))
  const { signMany, joinPool } = signer
  if (signMany !== undefined) await rejects(async () => signMany.call(signer, hashOf(2)))
  if (joinPool !== undefined) await rejects(async () => joinPool.call(signer))
  await signer.close()
}

/** A signature of the message that holds by the strict rule. */
async function signed(signer: Signer, message: Uint8Array): Promise<Buffer> {
  const before = Buffer.from(message)
  const signature: Uint8Array = await signer.sign(message)
  equal(signature.byteLength, SIGNATURE_BYTES)
  deepEqual(Buffer.from(message), before, 'the message is as it was')
  const isValid = verify(signature, message, publicKeyBytes(signer.publicKey))
  ok(isValid, `the signature of ${message.byteLength} bytes is one of the key that it names`)
  return Buffer.from(signature)
}

async function signedEach(signer: Signer, hashes: readonly Buffer[]): Promise<Buffer> {
  const signatures: Buffer[] = []
  for (const hash of hashes) signatures.push(await signed(signer, hash))
  return Buffer.concat(signatures)
}

function collected(member: PoolMember): Buffer {
  return Buffer.from(member.collect())
}

function signatureAt(signatures: Uint8Array, at: number): Uint8Array {
  return signatures.subarray(at * SIGNATURE_BYTES, (at + 1) * SIGNATURE_BYTES)
}

function hashOf(number: number): Buffer {
  return Buffer.from(sha256Hex(`signer-conformance/${number}`), 'hex')
}

function sha256Text(hash: Buffer): ReturnType<typeof sha256Hex> {
  return hash.toString('hex') as ReturnType<typeof sha256Hex>
}
