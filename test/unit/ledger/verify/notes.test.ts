import { describe, expect, it } from 'vitest'
import { type Hash, type PublicKey, sha256Hex } from '../../../../src/core/index.js'
import { publicKeyBytes } from '../../../../src/identity/index.js'
import { genesisHead, headRootOf } from '../../../../src/ledger/chain/chain-head.js'
import { LogFrontier, leafHash, noteOrigin, signLogNote } from '../../../../src/ledger/log/index.js'
import { NoteCheck } from '../../../../src/ledger/verify/notes.js'
import { fixedIdentity } from '../core/support.js'

const { identity } = fixedIdentity()
const chainHead = genesisHead(identity)
const stateRoot = headRootOf(chainHead)
/** The log after its first records, of which it has three. */
const frontierOf = (size: number) =>
  ['a', 'b', 'c']
    .slice(0, size)
    .reduce((log, text) => log.append(leafHash(Buffer.from(text))), LogFrontier.empty)

/** A note of the log at a size, as the ledger or another key signs it. */
async function noteOf(
  size: number,
  changed: { readonly root?: Hash; readonly stateRoot?: Hash; readonly fill?: number } = {}
): Promise<string> {
  const { root = frontierOf(size).root(), fill = 7 } = changed
  const signer = fixedIdentity(fill).signer()
  const origin = noteOrigin(identity)
  return signLogNote({
    note: { origin, size, root, stateRoot: changed.stateRoot ?? stateRoot },
    publicKey: publicKeyBytes(signer.publicKey),
    sign: (message) => signer.sign(message)
  })
}

function checkOf(...texts: readonly string[]): NoteCheck {
  return new NoteCheck(
    identity,
    texts.map((text, place) => ({ source: `note ${place}`, text }))
  )
}

describe('notes from outside against a log (P5)', () => {
  it('bind where root and state are those of the log at their size', async () => {
    const check = checkOf(await noteOf(2), await noteOf(1), await noteOf(2))
    for (const size of [0, 1, 2]) expect(check.at(frontierOf(size), chainHead)).toBeUndefined()
    expect(check.upTo).toBe(2)
    expect(check.reports).toEqual([
      { source: 'note 1', size: 1, ok: true },
      { source: 'note 0', size: 2, ok: true },
      { source: 'note 2', size: 2, ok: true }
    ])
    // Each is compared once, however often the log is looked at.
    expect(check.at(frontierOf(2), chainHead)).toBeUndefined()
    expect(check.reports).toHaveLength(3)
    expect(check.beyond()).toBeUndefined()
  })

  it('prove another history by another root or another state', async () => {
    const other = sha256Hex('another')
    for (const [changed, signed, problem] of [
      [{ root: other }, frontierOf(1).root(), 'the log has another root at this size'],
      [{ stateRoot: other }, stateRoot, 'the state root is another one']
    ] as const) {
      const check = checkOf(await noteOf(1, changed))
      expect(check.at(frontierOf(1), chainHead)).toEqual({
        ...{ signed, computed: other, source: 'note 0' }
      })
      expect(check.reports).toEqual([{ source: 'note 0', size: 1, ok: false, problem }])
      expect(check.upTo).toBe(0)
    }
  })

  it('are compared by their root alone where history is archived', async () => {
    const other = sha256Hex('another')
    const check = checkOf(await noteOf(1, { stateRoot: other }), await noteOf(2, { root: other }))
    check.knowKeys([chainHead.publicKey])
    expect(check.atLog(frontierOf(1))).toBeUndefined()
    expect(check.upTo).toBe(1)
    const root = frontierOf(2).root()
    expect(check.atLog(frontierOf(2))).toEqual({ signed: root, computed: other, source: 'note 1' })
    expect(check.reports.map(({ ok }) => ok)).toEqual([true, false])
  })

  it('bind by any key that was in force up to their size, and by no other', async () => {
    const problem = 'it is not signed by a key of this identity'
    const later = fixedIdentity(8).signer().publicKey as PublicKey
    const byLater = await noteOf(1, { fill: 8 })
    const before = checkOf(byLater)
    expect(before.at(frontierOf(1), chainHead)).toBeUndefined()
    expect(before.reports).toEqual([{ source: 'note 0', size: 1, ok: false, problem }])
    const behind = checkOf(byLater, await noteOf(1))
    behind.knowKeys([later])
    expect(behind.at(frontierOf(1), chainHead)).toBeUndefined()
    expect(behind.reports.map(({ ok }) => ok)).toEqual([true, true])
    const unknown = checkOf(await noteOf(1, { root: sha256Hex('x'), fill: 9 }), await noteOf(1))
    expect(unknown.at(frontierOf(1), chainHead)).toBeUndefined()
    expect(unknown.upTo).toBe(1)
    expect(unknown.reports.map(({ ok }) => ok)).toEqual([false, true])
  })

  it('beyond the end prove that the log was cut: the first that a key of it signed', async () => {
    const check = checkOf(await noteOf(3, { fill: 9 }), await noteOf(3), await noteOf(2))
    expect(check.at(frontierOf(1), chainHead)).toBeUndefined()
    expect(check.beyond()).toEqual({ size: 3, source: 'note 1' })
    const cut = 'the log is shorter than the note says'
    expect(check.reports.filter(({ problem }) => problem === cut)).toHaveLength(2)
    const strange = checkOf(await noteOf(3, { fill: 9 }))
    expect(strange.at(frontierOf(1), chainHead)).toBeUndefined()
    expect(strange.beyond()).toBeUndefined()
  })

  it('that are none are reported with what is wrong with them', () => {
    const check = checkOf('no note')
    expect(check.reports).toMatchObject([{ source: 'note 0', size: 0, ok: false }])
    expect(check.reports[0]?.problem).toMatch(/note/)
    expect(check.beyond()).toBeUndefined()
  })
})
