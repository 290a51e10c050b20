import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { alterRecords } from '../../../../src/cli/demo/alter.js'
import {
  canonicalize,
  type IdentityId,
  type PublicKey,
  sha256Hex,
  systemRandom
} from '../../../../src/core/index.js'
import { generateIdentity, KeyFiles, loadKeyFile, sign } from '../../../../src/identity/index.js'
import { holdStore, type Receipt } from '../../../../src/ledger/index.js'
import {
  createRuntime,
  repairLocation,
  verifyLocation,
  type WiredRuntime
} from '../../../../src/runtime/index.js'
import { OwnKeys } from '../../../../src/runtime/system/own-keys.js'
import { smallOrderEncodings } from '../../../support/hostile-signatures.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'

const rotate = { action: 'system.key.rotate' }
const approver = { publicKey: 'a'.repeat(64), isApprover: true }

let directory: string
const opened: WiredRuntime[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-keys-'))
})
afterEach(async () => {
  vi.restoreAllMocks()
  await closeAll()
  await rm(directory, { recursive: true, force: true })
})

const location = () => join(directory, 'ledger')
const keyDirectory = () => join(location(), 'keys')

async function open(passphrase?: string): Promise<WiredRuntime> {
  const tally = await createRuntime({
    location: location(),
    create: 'if-absent',
    serve: false,
    ...(passphrase === undefined ? { insecurePlaintextKey: true } : { passphrase })
  })
  opened.push(tally)
  return tally
}

async function closeAll(): Promise<void> {
  for (const tally of opened.splice(0)) await tally.close()
}

/** One receipt more, with the key that signed it. */
async function signedBy(tally: WiredRuntime): Promise<PublicKey> {
  const isApprover = tally.status().receipts % 2 === 0
  await tally.intent({ action: 'system.approver', payload: { ...approver, isApprover } })
  const last = await tally.receipt(tally.status().receipts - 1)
  if (last === undefined) throw new Error('there is no receipt')
  return last.receipt.publicKey
}

async function rotated(tally: WiredRuntime): Promise<Record<'publicKey' | 'replaced', PublicKey>> {
  const reply = await tally.intent(rotate)
  if (reply.type !== 'dapp') throw new Error(JSON.stringify(reply))
  expect(reply).toMatchObject({
    dappId: 'kernel',
    receipt: expect.stringMatching(/^[0-9a-f]{64}$/)
  })
  return reply as never
}

const keyNames = async () => (await readdir(keyDirectory())).sort()

async function expectWhole(): Promise<void> {
  const report = await verifyLocation(location(), { notes: [], code: {} })
  expect(report.failure).toBeUndefined()
  expect(report.reexecuted).toBe(report.receipts)
}

describe('rotation', () => {
  it('K2: the new key signs what comes after, here and when it is opened again', async () => {
    const tally = await open('a passphrase')
    const { identity } = tally
    expect(await signedBy(tally)).toBe(identity)
    const { publicKey, replaced } = await rotated(tally)
    expect(replaced).toBe(identity)
    expect(await signedBy(tally)).toBe(publicKey)
    // Another identity is sealed as this one is.
    const made = await tally.intent({ action: 'system.identity.create' })
    const { identity: other } = made as never as { readonly identity: string }
    const sealed = await readFile(join(keyDirectory(), `${other}.json`), 'utf8')
    expect(sealed).toContain('"protection":"scrypt')
    const note = await tally.note()
    expect(await tally.replayReceipt(1)).toMatchObject({ ok: true, notChecked: [] })
    await closeAll()
    const names = [`${identity}.${identity}.json`, `${identity}.json`, `${other}.json`]
    expect(await keyNames()).toEqual(names.sort())
    const again = await open('a passphrase')
    expect(again.status()).toMatchObject({ mode: 'ready', warnings: [] })
    expect(again.identity).toBe(identity)
    expect(await signedBy(again)).toBe(publicKey)
    await closeAll()
    await expectWhole()
    expect(
      await verifyLocation(location(), { notes: [{ source: 'note', text: note }] })
    ).toMatchObject({ ok: true, anchored: { upTo: 4 } })
  })

  it('L6: the same id is the same rotation, and is no other intent', async () => {
    const tally = await open()
    const first = await tally.intent({ id: 'june', ...rotate })
    expect(await tally.intent({ id: 'june', ...rotate })).toEqual(first)
    expect(tally.status().receipts).toBe(1)
    const [one, two] = await Promise.all([rotated(tally), rotated(tally)])
    expect(two.replaced).toBe(one.publicKey)
    const other = { id: 'july', action: 'system.approver', payload: approver }
    await tally.intent(other)
    expect(await tally.intent({ id: 'july', ...rotate })).toMatchObject({ reason: 'id_reused' })
    const given = { ...rotate, payload: { publicKey: 'b'.repeat(64) } }
    expect(await tally.intent(given)).toMatchObject({ reason: 'invalid_input' })
  })

  it('K2: a death before the receipt leaves the old key in force', async () => {
    await signedBy(await open())
    await closeAll()
    const [name = ''] = await keyNames()
    const keys = await loadKeyFile({ path: join(keyDirectory(), name) })
    const files = new KeyFiles({ directory: keyDirectory(), identity: keys.identity })
    await files.prepare(keys, systemRandom)
    const tally = await open()
    expect(await signedBy(tally)).toBe(keys.publicKey)
    expect((await rotated(tally)).replaced).toBe(keys.publicKey)
  })

  it('K2: a death after the receipt, and while files change names, leaves the new one', async () => {
    for (const isHalf of [false, true]) {
      const tally = await open()
      const use = vi.spyOn(OwnKeys.prototype, 'use').mockRejectedValue(new Error('it is dead'))
      const { publicKey, replaced } = await rotated(tally)
      use.mockRestore()
      const { identity } = tally
      await closeAll()
      const path = (name: string) => join(keyDirectory(), `${name}.json`)
      if (isHalf) await writeFile(path(`${identity}.${replaced}`), await readFile(path(identity)))
      const again = await open()
      expect(await signedBy(again)).toBe(publicKey)
      expect(await keyNames()).not.toContain(`${identity}.${publicKey}.json`)
      await closeAll()
    }
    await expectWhole()
  })

  it('L3: when nothing could be appended, no key is left behind', async () => {
    const tally = await open()
    const before = await keyNames()
    vi.spyOn(tally.ledger, 'rotate').mockRejectedValue(new Error('the disk is full'))
    await expect(tally.intent(rotate)).rejects.toThrow('the disk is full')
    expect(await keyNames()).toEqual(before)
  })

  it('K2: a key that the program has brought is not rotated', async () => {
    await signedBy(await open())
    await closeAll()
    const [name = ''] = await keyNames()
    const keys = await loadKeyFile({ path: join(keyDirectory(), name) })
    const tally = await createRuntime({ location: location(), serve: false, keys })
    opened.push(tally)
    expect(await tally.intent(rotate)).toMatchObject({ reason: 'no_key_file' })
  })

  it('P1: a receipt that the replaced key signs afterwards is refused', async () => {
    expectVerifyFailure('publicKey')
    const tally = await open()
    const { identity } = tally
    await rotated(tally)
    await signedBy(tally)
    await closeAll()
    const old = await loadKeyFile({ path: join(keyDirectory(), `${identity}.${identity}.json`) })
    const isLast = (receipt: Receipt) => receipt.intent === 'system.approver'
    await alter(identity, isLast, (receipt) => {
      const { receiptHash: _, signature: __, ...signed } = { ...receipt, publicKey: old.publicKey }
      const receiptHash = sha256Hex(canonicalize(signed))
      const signature = sign(Buffer.from(receiptHash, 'hex'), old.seed)
      return { ...signed, receiptHash, signature: Buffer.from(signature).toString('hex') }
    })
    const report = await verifyLocation(location(), { notes: [] })
    expect(report.failure).toMatchObject({ index: 1, field: 'publicKey', signed: identity })
    expect((await open()).status()).toMatchObject({ mode: 'safe' })
  })

  it('K2, L9: a ledger that is cut below a rotation opens with the key before it', async () => {
    const tally = await open()
    const { identity } = tally
    await signedBy(tally)
    const { publicKey } = await rotated(tally)
    await closeAll()
    const isRotation = (receipt: Receipt) => receipt.intent === rotate.action
    await alter(identity, isRotation, (receipt) => ({ ...receipt, dappId: 'another' }))
    const options = { notes: [], allowCut: true, acknowledgeNotes: true }
    const { recovery } = await repairLocation(location(), options)
    expect(recovery).toMatchObject({ kind: 'cut', receipts: 1 })
    const again = await open()
    expect(await signedBy(again)).toBe(identity)
    expect(await keyNames()).toEqual([`${identity}.${publicKey}.json`, `${identity}.json`])
  })

  it('P1: a rotation that writes what a rotation does not is found by doing it again', async () => {
    expectVerifyFailure('writeSet')
    const tally = await open()
    const make = tally.ledger.rotate.bind(tally.ledger)
    vi.spyOn(tally.ledger, 'rotate').mockImplementation(({ signer, item }) =>
      make({
        signer,
        item: (text) => {
          const honest = item(text)
          const { unit } = honest
          if (unit === undefined) return honest
          const writes = new Map([...unit.writes, ['approvers/mine', '{"by":"me"}']])
          return { ...honest, unit: { ...unit, writes } }
        }
      })
    )
    await rotated(tally)
    await closeAll()
    const report = await verifyLocation(location(), { notes: [], code: {} })
    expect(report.failure).toMatchObject({ index: 0, field: 'writeSet' })
  })
})

describe('revocation', () => {
  it('K2, K13: a replaced key is distrusted for good, and its file goes', async () => {
    const tally = await open()
    const { identity } = tally
    const revoke = { action: 'system.key.revoke', payload: { publicKey: identity } }
    expect(await tally.intent(revoke)).toMatchObject({ reason: 'unknown_key' })
    await rotated(tally)
    const naming = { action: 'system.approver', payload: { publicKey: identity, isApprover: true } }
    expect(await tally.intent(naming)).toMatchObject({ changed: [identity] })
    expect(await tally.intent(revoke)).toMatchObject({ publicKey: identity, revoked: true })
    expect(await keyNames()).toEqual([`${identity}.json`])
    expect(tally.ledger.read(`approvers/${identity}`)).toBeUndefined()
    expect(await tally.intent(naming)).toMatchObject({ reason: 'key_revoked' })
    await closeAll()
    await expectWhole()
  })

  it('K13: an approver is a key that valid signatures can come from', async () => {
    const tally = await open()
    const { receipts } = tally.status()
    const weak: Readonly<Record<string, string>> = {
      'no hex': 'z'.repeat(64),
      upper: 'A'.repeat(64),
      short: 'a'.repeat(62),
      long: 'a'.repeat(66),
      empty: '',
      'not on the curve': '4'.repeat(64),
      'y = p': `ed${'f'.repeat(60)}7f`,
      'y = p + 1': `ee${'f'.repeat(60)}7f`,
      'y = 2^255 - 1': `${'f'.repeat(62)}7f`,
      ...Object.fromEntries(smallOrderEncodings.map((one) => [one, one]))
    }
    for (const [name, publicKey] of Object.entries(weak)) {
      const payload = { publicKey, isApprover: true }
      const reply = await tally.intent({ action: 'system.approver', payload })
      expect(reply, name).toMatchObject({ type: 'error', reason: 'invalid_subject' })
      expect(tally.ledger.read(`approvers/${publicKey}`)).toBeUndefined()
    }
    expect(tally.status().receipts).toBe(receipts)
    const { publicKey } = generateIdentity(systemRandom)
    const payload = { publicKey, isApprover: true }
    expect(await tally.intent({ action: 'system.approver', payload })).toMatchObject({
      type: 'dapp'
    })
  })

  it('K13: keys are the owner’s: an approver is refused, which leaves evidence', async () => {
    const tally = await open()
    const peer = { kind: 'peer', id: approver.publicKey }
    await tally.intent({ action: 'system.approver', payload: approver })
    for (const action of ['system.key.rotate', 'system.key.revoke', 'system.upgrade']) {
      const reply = await tally.intents.submit({ action, payload: {} }, peer)
      expect(reply).toMatchObject({ type: 'error', reason: 'not_permitted' })
    }
    const kinds: string[] = []
    for await (const { kind } of tally.ledger.log()) kinds.push(kind)
    expect(kinds).toEqual(['receipt', 'evidence', 'evidence', 'evidence'])
    await closeAll()
    const report = await verifyLocation(location(), { notes: [], code: {} })
    expect(report).toMatchObject({ ok: true, reexecutedFailures: 3 })
  })
})

async function alter(
  identity: IdentityId,
  isMeant: (receipt: Receipt) => boolean,
  change: (receipt: Receipt) => object
): Promise<void> {
  const held = await holdStore(location())
  try {
    await alterRecords(held.store, identity, (text) =>
      text
        .split('\n')
        .map((line) => {
          if (!line.startsWith('R{')) return line
          const receipt = JSON.parse(line.slice(1)) as Receipt
          return isMeant(receipt) ? `R${canonicalize(change(receipt) as never)}` : line
        })
        .join('\n')
    )
  } finally {
    await held.close()
  }
}
