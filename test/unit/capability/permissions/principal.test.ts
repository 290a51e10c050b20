import { describe, expect, it } from 'vitest'
import {
  isOwner,
  isSamePrincipal,
  mayAdminister,
  type Principal,
  principalIn
} from '../../../../src/capability/permissions/principal.js'
import { stateOf } from '../../../../src/capability/permissions/state.js'
import type { Json } from '../../../../src/core/index.js'

/** K13: who is named by a message, read from values of which nothing is known. */

const kinds = ['owner', 'agent', 'peer', 'package'] as const
const nobody: readonly Json[] = [
  null,
  true,
  'owner',
  [],
  ['owner', 'id'],
  {},
  { kind: 'owner' },
  { id: 'a' },
  { kind: 'owner', id: 1 },
  { kind: 'owner', id: null },
  { kind: 'Owner', id: 'a' },
  { kind: 'kernel', id: 'a' },
  { kind: '', id: 'a' },
  { kind: ['owner'], id: 'a' }
]

describe('a principal in a value', () => {
  it.each(kinds)('K13: is read when its kind is %s, and keeps nothing else', (kind) => {
    expect(principalIn({ kind, id: 'a', admin: true })).toEqual({ kind, id: 'a' })
    expect(principalIn({ kind, id: '' })).toEqual({ kind, id: '' })
  })

  it.each(nobody.map((value) => [JSON.stringify(value), value] as const))(
    'K13: is not read from %s',
    (_, value) => {
      expect(principalIn(value)).toBeUndefined()
    }
  )

  it('K13: is none where there is no value', () => {
    expect(principalIn(undefined)).toBeUndefined()
  })

  it('K13: is the owner by its kind alone, and only in an object', () => {
    const owners = [...kinds.map((kind): Json => ({ kind, id: 'a' })), ...nobody].filter(isOwner)
    expect(owners).toEqual([
      { kind: 'owner', id: 'a' },
      { kind: 'owner' },
      { kind: 'owner', id: 1 },
      { kind: 'owner', id: null }
    ])
  })

  it('K13: is the same as another of its kind and id, whatever else stands beside', () => {
    const all = kinds.flatMap((kind) => ['a', 'b'].map((id) => ({ kind, id })))
    for (const one of all) {
      for (const other of all) {
        const isSame = one.kind === other.kind && one.id === other.id
        expect(isSamePrincipal(one, { ...other, name: 'Ada' })).toBe(isSame)
      }
      for (const other of nobody) {
        expect(isSamePrincipal(one, other)).toBe(false)
        expect(isSamePrincipal(other, one)).toBe(false)
      }
    }
    for (const one of nobody) expect(isSamePrincipal(one, one)).toBe(false)
  })
})

describe('a principal that changes permissions', () => {
  it('K13: is the owner, or a peer of which the state says that it approves', () => {
    const state = stateOf({ read: (key) => (key === 'approvers/ada' ? '{"at":1}' : undefined) })
    const all = kinds.flatMap((kind) => ['ada', 'ben'].map((id): Principal => ({ kind, id })))
    expect(all.filter((one) => mayAdminister(state, one))).toEqual([
      { kind: 'owner', id: 'ada' },
      { kind: 'owner', id: 'ben' },
      { kind: 'peer', id: 'ada' }
    ])
  })
})

describe('state as permissions read it', () => {
  it('is parsed anew at each reading, and undefined where there is no entry', () => {
    const state = stateOf({ read: (key) => (key === 'a' ? '{"b":[1]}' : undefined) })
    expect(state.get('a')).toEqual({ b: [1] })
    expect(state.get('a')).not.toBe(state.get('a'))
    expect(state.get('')).toBeUndefined()
  })
})
