import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { getPublicKey } from '../../../src/identity/index.js'
import { privateKeyObject } from '../../../src/identity/keys.js'
import { SigningThread } from '../../../src/identity/signing-thread.js'

const publicKey = getPublicKey(new Uint8Array(32))

describe('SigningThread', () => {
  it('I1, I4: a failure rejects every open request, and the next starts a new thread', async () => {
    // A public key cannot sign, so the thread dies of its first request.
    const unable = createPublicKey(privateKeyObject(new Uint8Array(32)))
    const thread = new SigningThread(unable, publicKey)
    for (const attempt of [1, 2]) {
      const open = [thread.sign(new Uint8Array(32)), thread.sign(new Uint8Array(64))]
      const outcomes = await Promise.allSettled(open)
      expect(outcomes, `attempt ${attempt}`).toMatchObject([
        { status: 'rejected', reason: { code: 'identity.signer_failed' } },
        { status: 'rejected', reason: { code: 'identity.signer_failed' } }
      ])
    }
    await thread.close()
    await expect(thread.sign(new Uint8Array(32))).rejects.toMatchObject({
      code: 'identity.signer_closed'
    })
  })

  it('signs nothing when given nothing', async () => {
    const { privateKey } = generateKeyPairSync('ed25519')
    const thread = new SigningThread(privateKey, publicKey)
    expect(await thread.sign(new Uint8Array(0))).toHaveLength(0)
    await thread.close()
  })
})
