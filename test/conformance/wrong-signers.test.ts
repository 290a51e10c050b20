import { createHash } from 'node:crypto'
import { Point, utils } from '@noble/ed25519'
import { describe, expect, it } from 'vitest'
import {
  getPublicKey,
  localSigner,
  type PoolMember,
  type Signer
} from '../../src/identity/index.js'
import { type SignerDriver, signerConformance } from '../../src/testing/index.js'
import { failingChecks, neverFailed, type WrongDriver } from '../support/failing-checks.js'

const seed = new Uint8Array(32).fill(12)
const hashesIn = (hashes: Uint8Array) =>
  Array.from({ length: hashes.byteLength / 32 }, (_, at) => hashes.slice(at * 32, at * 32 + 32))

/** A signer whose key is behind something that can be cut, of which some things are otherwise. */
function altered(changes: (right: Signer, isCut: () => boolean) => Partial<Signer>) {
  return (): SignerDriver => {
    let isCut = false
    return {
      open: async () => {
        const local = localSigner(seed)
        const sign = async (message: Uint8Array) => {
          if (isCut) throw new Error('the key cannot be reached')
          return local.sign(message)
        }
        const right: Signer = {
          publicKey: local.publicKey,
          sign,
          signMany: async (hashes) => Buffer.concat(await Promise.all(hashesIn(hashes).map(sign))),
          joinPool: () => local.joinPool(),
          close: () => local.close()
        }
        return { ...right, ...changes(right, () => isCut) }
      },
      cutOff: async () => {
        isCut = true
        return async () => {
          isCut = false
        }
      }
    }
  }
}

/** A member of a pool that gives its signatures otherwise. */
function collecting(member: PoolMember, change: (signatures: Uint8Array) => Uint8Array) {
  return {
    capacity: member.capacity,
    put: (hash: Parameters<PoolMember['put']>[0]) => member.put(hash),
    collect: () => change(member.collect()),
    close: () => member.close()
  }
}

function lastFirst(signatures: Uint8Array): Uint8Array {
  const each = Array.from({ length: signatures.byteLength / 64 }, (_, at) =>
    signatures.slice(at * 64, at * 64 + 64)
  )
  return Buffer.concat(each.reverse())
}

/** A valid signature with a nonce by chance, which RFC 8032 does not allow. */
function salted(message: Uint8Array): Uint8Array {
  const order = Point.CURVE().n
  const sha512 = (...parts: Uint8Array[]) =>
    createHash('sha512').update(Buffer.concat(parts)).digest()
  const scalar = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
  const secret = sha512(seed).subarray(0, 32)
  secret[0] = (secret[0] ?? 0) & 248
  secret[31] = ((secret[31] ?? 0) & 63) | 64
  const nonce = scalar(utils.randomSecretKey()) % order
  const r = Point.BASE.multiply(nonce).toBytes()
  const publicKey = Buffer.from(getPublicKey(seed), 'hex')
  const challenge = scalar(sha512(r, publicKey, message)) % order
  const s = (nonce + challenge * (scalar(secret) % order)) % order
  return Buffer.concat([r, Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()])
}

const everything = [
  'names the key',
  'signs a hash',
  'signs messages',
  'gives a message',
  'gives each',
  'signs many',
  'gives all',
  'a pool',
  'a member',
  'fails while'
]

const wrong: readonly WrongDriver<SignerDriver>[] = [
  {
    fault: 'names the key of another',
    driver: altered(() => ({ publicKey: getPublicKey(new Uint8Array(32).fill(13)) })),
    fails: everything
  },
  {
    fault: 'hashes what it is given before it signs it',
    driver: altered((right) => ({
      sign: (message) => right.sign(createHash('sha256').update(message).digest())
    })),
    fails: everything.filter((name) => name !== 'gives all')
  },
  {
    fault: 'signs hashes only',
    driver: altered((right) => ({ sign: (message) => right.sign(message.slice(0, 32)) })),
    fails: ['signs messages']
  },
  {
    fault: 'signs whatever was signed first',
    driver: altered((right) => {
      let first: ReturnType<Signer['sign']> | undefined
      return {
        sign: (message) => {
          first ??= right.sign(message)
          return first
        }
      }
    }),
    fails: [
      'signs messages',
      'gives each',
      'signs many',
      'a pool',
      'fails while',
      'refuses to sign'
    ]
  },
  {
    fault: 'takes a nonce by chance',
    driver: altered((right) => ({
      sign: async (message) => {
        await right.sign(message)
        return salted(message)
      }
    })),
    fails: ['gives a message', 'signs many', 'a pool']
  },
  {
    fault: 'mixes up the answers of calls at once',
    driver: altered((right) => {
      const waiting: ((signature: Uint8Array | Promise<Uint8Array>) => void)[] = []
      return {
        sign: async (message) => {
          const signature = await right.sign(message)
          return new Promise((resolve) => {
            waiting.push(resolve)
            setImmediate(() => waiting.pop()?.(signature))
          })
        }
      }
    }),
    fails: ['gives each']
  },
  {
    fault: 'overwrites the message',
    driver: altered((right) => ({
      sign: async (message) => {
        const signature = await right.sign(message)
        message.fill(0)
        return signature
      }
    })),
    fails: everything.filter((name) => name !== 'gives all')
  },
  {
    fault: 'signs many hashes last first',
    driver: altered((right) => ({
      signMany: async (hashes) =>
        right.signMany?.(Buffer.concat(hashesIn(hashes).reverse())) ?? hashes
    })),
    fails: ['signs many', 'gives all']
  },
  {
    fault: 'gives what is signed when it is closed',
    driver: altered((right) => {
      let isOpen = true
      return {
        signMany: async (hashes) => {
          const signatures: Uint8Array[] = []
          for (const hash of hashesIn(hashes)) {
            if (isOpen) signatures.push(await right.sign(hash))
          }
          if (signatures.length === 0 && hashes.byteLength > 0) throw new Error('it is closed')
          return Buffer.concat(signatures)
        },
        close: () => {
          isOpen = false
          return right.close?.()
        }
      }
    }),
    fails: ['gives all']
  },
  {
    fault: 'collects last first',
    driver: altered((right) => ({
      joinPool: () => collecting(right.joinPool?.() as PoolMember, lastFirst)
    })),
    fails: ['a pool']
  },
  {
    fault: 'gives its callers one place in the pool',
    driver: altered((right) => {
      let member: PoolMember | undefined
      return {
        joinPool: () => {
          member ??= right.joinPool?.() as PoolMember
          return member
        }
      }
    }),
    fails: ['a pool']
  },
  {
    fault: 'is closed with a member of its pool',
    driver: altered((right) => ({
      joinPool: () => {
        const member = right.joinPool?.() as PoolMember
        return {
          ...collecting(member, (signatures) => signatures),
          close: async () => {
            await member.close()
            await right.close?.()
          }
        }
      }
    })),
    fails: ['a member']
  },
  {
    fault: 'gives no signature that holds while it is cut off',
    driver: altered((right, isCut) => ({
      sign: (message) => (isCut() ? new Uint8Array(64) : right.sign(message))
    })),
    fails: ['fails while']
  },
  {
    fault: 'waits for ever while it is cut off',
    driver: altered((right, isCut) => ({
      sign: (message) => (isCut() ? new Promise(() => undefined) : right.sign(message))
    })),
    fails: ['late: fails while']
  },
  {
    fault: 'stays cut off',
    driver: altered((right, isCut) => {
      let wasCut = false
      return {
        sign: async (message) => {
          wasCut ||= isCut()
          if (wasCut) throw new Error('the key cannot be reached')
          return right.sign(message)
        }
      }
    }),
    fails: ['fails while']
  },
  {
    fault: 'signs after it was closed',
    driver: altered(() => ({ close: async () => undefined })),
    fails: ['refuses to sign']
  }
]

describe('a signer is found wrong that', () => {
  it.each(wrong)('$fault', async ({ driver, fails }) => {
    expect(await failingChecks(signerConformance, driver, fails)).toEqual(fails)
  })
})

it('each check of the suite for signers fails for a wrong signer', () => {
  expect(neverFailed(signerConformance, wrong)).toEqual([])
})
