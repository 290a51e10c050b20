import { execFileSync } from 'node:child_process'
import { inspect } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { sha256Hex } from '../../../src/core/index.js'
import { getPublicKey, localSigner } from '../../../src/identity/index.js'
import { builtModule } from '../../support/built.js'

const seed = new Uint8Array(32).fill(5)
const signer = localSigner(seed)
afterAll(() => signer.close())

const refused = (code: string) => expect.objectContaining({ code })

describe('localSigner', () => {
  it('refuses seeds of wrong length', () => {
    for (const length of [0, 31, 33, 64]) {
      expect(() => localSigner(new Uint8Array(length))).toThrow(
        refused('identity.malformed_seed') as unknown as Error
      )
    }
  })

  it('refuses to sign once it is closed, its member of the pool too', async () => {
    const closing = localSigner(seed)
    const member = closing.joinPool()
    member.put(sha256Hex('too late'))
    await closing.close()
    expect(() => member.collect()).toThrow(/closed/)
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

  it('I2: a thread keeps no process alive, neither asleep nor at work', () => {
    const program = `
      import { localSigner } from ${JSON.stringify(builtModule('identity/index.js'))}
      const member = localSigner(new Uint8Array(32)).joinPool()
      const put = () => { for (let n = 0; n < 100; n += 1) member.put('00'.repeat(32)) }
      put()
      await new Promise((resolve) => setTimeout(resolve, 300))
      console.log(member.collect().length)
      put()
    `
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 30_000
    })
    expect(output.trim()).toBe(String(100 * 64))
  })
})
