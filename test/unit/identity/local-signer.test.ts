import { execFileSync } from 'node:child_process'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import {
  getPublicKey,
  localSigner,
  publicKeyBytes,
  sign,
  verify
} from '../../../src/identity/index.js'
import { builtModule } from '../../support/built.js'

const seed = new Uint8Array(32).fill(5)
const signer = localSigner(seed)
afterAll(() => signer.close())

const refused = (code: string) => expect.objectContaining({ code })

describe('localSigner', () => {
  it('signs many hashes in its thread as it signs one inline', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }), { maxLength: 40 }),
        async (hashes) => {
          const signatures = await signer.signMany(Buffer.concat(hashes))
          expect(signatures).toHaveLength(hashes.length * 64)
          for (const [index, hash] of hashes.entries()) {
            const signature = signatures.subarray(index * 64, index * 64 + 64)
            expect(Buffer.from(signature)).toEqual(Buffer.from(signer.sign(hash)))
            expect(verify(signature, hash, publicKeyBytes(signer.publicKey))).toBe(true)
          }
        }
      ),
      { numRuns: 20 }
    )
  })

  it('answers concurrent requests each with its own signatures', async () => {
    const hashes = Array.from({ length: 30 }, (_, index) => new Uint8Array(32).fill(index))
    const answers = await Promise.all(hashes.map((hash) => signer.signMany(hash)))
    expect(answers.map((answer) => Buffer.from(answer))).toEqual(
      hashes.map((hash) => Buffer.from(sign(hash, seed)))
    )
  })

  it('refuses hashes of broken length and seeds of wrong length', async () => {
    await expect(signer.signMany(new Uint8Array(33))).rejects.toEqual(
      refused('identity.malformed_hashes')
    )
    for (const length of [0, 31, 33, 64]) {
      expect(() => localSigner(new Uint8Array(length))).toThrow(
        refused('identity.malformed_seed') as unknown as Error
      )
    }
  })

  it('I1: settles open requests when closed, and refuses later ones', async () => {
    const closing = localSigner(seed)
    const open = closing.signMany(new Uint8Array(32 * 1_000))
    const outcome = expect(open).rejects.toEqual(refused('identity.signer_closed'))
    await closing.close()
    await outcome
    await expect(closing.signMany(new Uint8Array(32))).rejects.toEqual(
      refused('identity.signer_closed')
    )
    expect(() => closing.sign(new Uint8Array(32))).toThrow(/closed/)
    await closing.close()
  })

  it('I3: shows no seed when printed or serialised', () => {
    const secret = Buffer.from(seed)
    const shown = inspect(signer, { depth: 10, showHidden: true }) + JSON.stringify(signer)
    expect(shown).toContain(getPublicKey(seed))
    expect(shown).not.toContain(secret.toString('hex'))
    expect(shown).not.toContain(secret.toString('base64url'))
    expect(shown).not.toContain(secret.join(', '))
  })

  it('I2: an idle thread does not keep a process alive, an open request does', () => {
    const program = `
      import { localSigner } from ${JSON.stringify(builtModule('identity/index.js'))}
      const signer = localSigner(new Uint8Array(32))
      const signatures = await signer.signMany(new Uint8Array(32 * 50))
      console.log(signatures.length)
    `
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 30_000
    })
    expect(output.trim()).toBe(String(50 * 64))
  })
})
