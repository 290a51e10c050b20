import { describe, expect, it } from 'vitest'
import { type Hash, sha256Hex } from '../../../../src/core/index.js'
import { localSigner, type Signer } from '../../../../src/identity/index.js'
import { SignedRecord, SigningQueue } from '../../../../src/ledger/commit/signing.js'

const local = localSigner(new Uint8Array(32).fill(3))
const { publicKey } = local
const other = localSigner(new Uint8Array(32).fill(4))

/** A key service that signs many at once, and one that signs one after the other. */
const many: Signer = {
  publicKey,
  sign: () => Promise.reject(new Error('it signs many')),
  signMany: async (hashes) => {
    const signatures = []
    for (let at = 0; at < hashes.length; at += 32) {
      signatures.push(local.sign(hashes.subarray(at, at + 32)))
    }
    return Buffer.concat(signatures)
  }
}
const oneByOne: Signer = { publicKey, sign: async (hash) => local.sign(hash) }

function record(name: string): SignedRecord {
  const hash: Hash = sha256Hex(name)
  return new SignedRecord({ hash, before: `${name}:`, after: '' })
}

const signed = (name: string, signer = local) =>
  `${name}:${Buffer.from(signer.sign(Buffer.from(sha256Hex(name), 'hex'))).toString('hex')}`

describe('records to be signed', () => {
  it.each([
    ['a signing pool', local],
    ['a service that signs many', many],
    ['a service that signs one', oneByOne]
  ])('are signed each with its own signature by %s', async (_, signer) => {
    const queue = new SigningQueue(signer)
    for (const count of [0, 1, 7, 40]) {
      const names = Array.from({ length: count }, (_, index) => `${count}/${index}`)
      const records = names.map(record)
      for (const one of records) queue.add(one)
      await queue.finish()
      expect(records.map((one) => one.text())).toEqual(names.map((name) => signed(name)))
    }
    await queue.close()
  })

  it('are signed by the key in force when they were made', async () => {
    const queue = new SigningQueue(local)
    const [before, after] = [record('before'), record('after')]
    queue.add(before)
    queue.use(other)
    queue.add(after)
    await queue.finish()
    expect([before.text(), after.text()]).toEqual([signed('before'), signed('after', other)])
    await queue.close()
  })

  it('have nothing to do with what another ledger of the signer left', async () => {
    const left = new SigningQueue(local)
    left.add(record('never written'))
    const queue = new SigningQueue(local)
    const one = record('one')
    queue.add(one)
    await queue.finish()
    expect(one.text()).toBe(signed('one'))
    await Promise.all([left.close(), queue.close()])
  })

  it('fail when the signer fails, again and again', async () => {
    const broken: Signer = { publicKey, sign: () => Promise.reject(new Error('no service')) }
    const queue = new SigningQueue(broken)
    queue.add(record('one'))
    await expect(queue.finish()).rejects.toThrow('no service')
    await expect(queue.finish()).rejects.toThrow('no service')
  })

  const all = (hashes: Uint8Array) => many.signMany?.(hashes) ?? Promise.reject()
  const wrong: Readonly<Record<string, Signer>> = {
    'no signature': { ...many, signMany: async () => new Uint8Array(0) },
    'one too few': { ...many, signMany: async (hashes) => (await all(hashes)).subarray(64) },
    'one too many': {
      ...many,
      signMany: async (hashes) => Buffer.concat([await all(hashes), new Uint8Array(64)])
    },
    'a byte too few': { ...many, signMany: async (hashes) => (await all(hashes)).subarray(1) },
    'those of another key': {
      ...many,
      signMany: async (hashes) => {
        const made = []
        for (let at = 0; at < hashes.length; at += 32) {
          made.push(other.sign(hashes.subarray(at, at + 32)))
        }
        return Buffer.concat(made)
      }
    },
    'those of others in order': {
      ...many,
      signMany: async (hashes) => {
        const made = Buffer.from(await all(hashes))
        return Buffer.concat([made.subarray(64), made.subarray(0, 64)])
      }
    },
    'a changed one': {
      ...many,
      signMany: async (hashes) => {
        const made = Buffer.from(await all(hashes))
        made[made.length - 64] = (made.at(-64) ?? 0) ^ 1
        return made
      }
    },
    'one by one, of another key': { publicKey, sign: async (hash) => other.sign(hash) },
    'one by one, too long': {
      publicKey,
      sign: async (hash) => Buffer.concat([await local.sign(hash), new Uint8Array(1)])
    },
    'at once, too short': {
      publicKey,
      sign: (hash) => Buffer.from(local.sign(hash) as Uint8Array).subarray(1)
    }
  }

  it.each(Object.entries(wrong))('L3: refuse %s from their signer', async (_, signer) => {
    const queue = new SigningQueue(signer)
    for (const name of ['one', 'two', 'three']) queue.add(record(name))
    await expect(queue.finish()).rejects.toMatchObject({ code: 'ledger.wrong_signature' })
    await expect(queue.finish()).rejects.toMatchObject({ code: 'ledger.wrong_signature' })
    await queue.close()
  })
})
