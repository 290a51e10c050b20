import { describe, expect, it } from 'vitest'
import { Failures } from '../../../src/audit/failures.js'
import { NotChecked } from '../../../src/audit/not-checked.js'
import { sha256Hex } from '../../../src/core/index.js'

/** L14: failures that are done again, those that are left out and why. */

const hash = sha256Hex('code')
const finding = { field: 'journal.body', signed: 'x', computed: 'y' }
const settled = (provider?: object) => ({ k: 'settled', provider }) as const
const provider = { kind: 'package', id: 'mail@1', codeHash: hash }

interface Again {
  /** What doing it again gives. */
  readonly again?: object | undefined
  /** The code that is registered for the provider of the kernel's block. */
  readonly registered?: string | undefined
  readonly isKernel?: boolean
  readonly isElsewhere?: boolean
  readonly isWanted?: () => boolean
}

async function checked(entry: object, given: Again = {}, failures = new Failures({} as never)) {
  const { again, registered, isKernel = true, isElsewhere = false } = given
  const asked: unknown[] = []
  const kernel = {
    codeOf: async (of: object) => {
      asked.push(of)
      return registered
    }
  }
  const replay = {
    blocksOf: () => [isKernel ? { kernel } : {}],
    failure: async () => again
  }
  const rest = { below: {}, undo: {}, isElsewhere }
  const found = await failures.check({ replay, entry, ...rest } as never)
  const said = new NotChecked()
  failures.say(said)
  const { reexecuted, isComplete } = failures
  return { found, said: said.all(), reexecuted, isComplete, asked }
}

const nothing = { found: undefined, said: [], reexecuted: 0, isComplete: true, asked: [] }
const one = (why: string) => [`1 failure not checked: ${why}`]

describe('a failure that is done again', () => {
  it('L14: comes out the same and is counted, or is none', async () => {
    expect(await checked(settled())).toEqual(nothing)
    const same = { again: { kind: 'same' } }
    expect(await checked(settled(), same)).toEqual({ ...nothing, reexecuted: 1 })
    expect(await checked({ k: 'scope' }, same)).toEqual({ ...nothing, reexecuted: 1 })
  })

  it('L14: comes out otherwise, which is a finding', async () => {
    const other = { again: { kind: 'differs', finding } }
    expect(await checked(settled(), other)).toEqual({ ...nothing, found: finding })
  })

  it('D5: comes out otherwise on another engine, unless a package has its own', async () => {
    const other = { again: { kind: 'differs', finding }, isElsewhere: true, registered: hash }
    const said = one('profile_changed: they came out otherwise')
    for (const entry of [settled(), { k: 'scope' }, settled({ ...provider, kind: 'declared' })]) {
      expect(await checked(entry, other)).toMatchObject({ found: undefined, said })
    }
    const ofPackage = await checked(settled(provider), other)
    expect([ofPackage.found, ofPackage.said]).toEqual([finding, []])
    // An entry of another kind has no provider, whatever it says.
    const scope = await checked({ ...settled(provider), k: 'scope' }, other)
    expect(scope.found).toBeUndefined()
  })

  it('B10: is left out with the reason, and with a body that is not here nothing is complete', async () => {
    const skipped = (isWithheld: boolean) => ({
      again: { kind: 'skipped', why: 'it is long', isWithheld }
    })
    const said = one('it is long')
    expect(await checked(settled(), skipped(false))).toEqual({ ...nothing, said })
    expect(await checked(settled(), skipped(true))).toEqual({ ...nothing, said, isComplete: false })
  })

  it('B10: is left out where its code is not here, or is another', async () => {
    const left = { ...nothing, asked: [provider], isComplete: false }
    const again = { kind: 'same' }
    expect(await checked(settled(provider), { again })).toEqual({
      ...left,
      said: one('mail@1 is not registered')
    })
    expect(await checked(settled(provider), { again, registered: 'other' })).toEqual({
      ...left,
      said: one('other code is registered as mail@1')
    })
    const here = await checked(settled(provider), { again, registered: hash })
    expect(here).toEqual({ ...nothing, asked: [provider], reexecuted: 1 })
    const trusted = await checked(settled(provider), { again, isKernel: false })
    expect(trusted).toEqual({ ...nothing, reexecuted: 1 })
    const scope = await checked({ ...settled(provider), k: 'scope' }, { again })
    expect(scope).toEqual({ ...nothing, reexecuted: 1 })
  })

  it('L14: is none for a caller that asks for certain receipts', async () => {
    const failures = new Failures({ isWanted: () => true } as never)
    const other = { again: { kind: 'differs', finding } }
    expect(await checked(settled(provider), other, failures)).toEqual(nothing)
  })

  it('B10: is counted with others that are left out for the same reason', async () => {
    const failures = new Failures({} as never)
    const again = { kind: 'skipped', why: 'it is long', isWithheld: false }
    await checked(settled(), { again }, failures)
    await checked(settled(provider), {}, failures)
    const { said } = await checked(settled(), { again }, failures)
    expect(said).toEqual([
      '2 failures not checked: it is long',
      '1 failure not checked: mail@1 is not registered'
    ])
  })
})
