import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { generateIdentity, type Signer } from '../../../../src/identity/index.js'
import { type KeyService, startKeyService } from '../../../support/key-service.js'
import { LedgerOnDisk } from '../../../support/ledger-on-disk.js'
import { codeOf } from '../../../support/lives.js'

const ask = defineBlock({
  name: 'ask',
  version: '1.0.0',
  sideEffects: 'none',
  private: { input: true, output: true },
  run: async (ctx) => (await ctx.wait({ reason: 'external', request: 'what?' })).value
})
const tea = defineBlock({ name: 'tea', version: '1.0.0', sideEffects: 'none', run: () => 'tea' })
const blocks = [ask, tea]
const documentOf = (block: string) => ({
  schema: 'tally-composite/1',
  name: 'asking',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block } }
})
const blobKey = new Uint8Array(32).fill(7)

let disk: LedgerOnDisk
let service: KeyService
let signer: Signer
beforeEach(async () => {
  disk = await LedgerOnDisk.create()
  service = await startKeyService(new Uint8Array(32).fill(5))
  signer = await service.open()
})
afterEach(async () => {
  await disk.remove()
  await service.close()
})

const open = (given: Partial<{ signer: Signer; blobKey: Uint8Array }> = {}) =>
  disk.open({ blocks, signer: { signer, blobKey, ...given } })

describe('a runtime with the signer of its program', () => {
  it('makes a ledger of its key, which another process opens and continues with it', async () => {
    const tally = await open()
    expect(tally.status()).toMatchObject({ identity: signer.publicKey, mode: 'ready' })
    const run = tally.begin(documentOf('ask'), { id: 'one' })
    for await (const { type } of run) if (type === 'run.parked') break
    await disk.close()
    const again = await open()
    expect(again.status()).toMatchObject({ identity: signer.publicKey, mode: 'ready' })
    const parked = await again.attach('one')
    const [wait] = await parked.waits()
    const { token = '', digest = '' } = wait ?? {}
    expect(await parked.resume(token, { digest, value: 'tea' })).toEqual({ accepted: true })
    expect(await parked.result).toMatchObject({ status: 'done', response: { data: 'tea' } })
    expect(await again.replay()).toMatchObject({ ok: true })
    await disk.close()
    expect((await signer.sign(new Uint8Array(32))).length, 'it is still open').toBe(64)
  })

  it('makes no key: a rotation is refused', async () => {
    const tally = await open()
    const reply = await tally.intent({ action: 'system.key.rotate' })
    expect(reply).toMatchObject({ type: 'error', reason: 'no_key_file' })
  })

  it('opens a ledger with the key in force only', async () => {
    await open()
    await disk.close()
    const other = generateIdentity().signer()
    expect(await codeOf(open({ signer: other }))).toBe('ledger.wrong_signer')
    await other.close()
  })

  it('refuses a key and a blob key that are none', async () => {
    const zero = { ...signer, publicKey: '00'.repeat(32), sign: () => new Uint8Array(64) }
    expect(await codeOf(open({ signer: zero as unknown as Signer }))).toBe(
      'identity.invalid_signer'
    )
    expect(await codeOf(open({ blobKey: new Uint8Array(31) }))).toBe('identity.invalid_signer')
  })

  it('L3: is poisoned by a signer that is cut off, and opens again with all that was there', async () => {
    const tally = await open()
    await tally.begin(documentOf('tea')).result
    const { receipts } = tally.status()
    const reconnect = await service.cutOff?.(signer)
    const failed = await codeOf(tally.begin(documentOf('tea')).result)
    expect(failed).toBe('ledger.poisoned')
    await disk.close().catch(() => undefined)
    await reconnect?.()
    expect((await open()).status()).toMatchObject({ receipts, mode: 'ready' })
  })
})
