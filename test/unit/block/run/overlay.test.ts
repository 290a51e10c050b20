import { describe, expect, it } from 'vitest'
import { Overlay } from '../../../../src/block/run/overlay.js'
import { hashJson, sha256Hex } from '../../../../src/core/index.js'

function scope(path: string, outer: Overlay | undefined): Overlay {
  const opened = {
    kind: 'scope.open',
    path,
    step: 1,
    attempt: 1,
    block: 'both',
    request: {} as never,
    outermost: outer === undefined
  } as const
  const below = outer === undefined ? () => undefined : (key: string) => outer.view.read(key)
  return new Overlay(opened, { at: 0, outer, below })
}

describe('an overlay inside an overlay', () => {
  it('C4: lists keys under the changes of every overlay around it', () => {
    const outer = scope('root/a', undefined)
    outer.view.write('k/outer', 1)
    outer.view.write('k/gone', undefined)
    const inner = scope('root/a/b', outer)
    inner.view.write('k/inner', 2)
    expect(inner.list('k/', ['k/gone', 'k/ledger'])).toEqual(['k/inner', 'k/ledger', 'k/outer'])
  })

  it('L10: keeps what the ledger listed, for the check at commit', () => {
    const outer = scope('root/a', undefined)
    scope('root/a/b', outer).list('k/', ['k/ledger'])
    expect(outer.view.lists.get('k/')).toEqual(['k/ledger'])
  })

  it('L10: is outdated by a second listing of other keys', () => {
    const outer = scope('root/a', undefined)
    const inner = scope('root/a/b', outer)
    inner.list('k/', ['k/ledger'])
    expect(outer.view.isOutdated).toBe(false)
    inner.list('k/', [])
    expect([outer.view.isOutdated, inner.view.isOutdated]).toEqual([true, true])
  })

  it.each([
    [['k/a'], false],
    [['k/a', 'k/b'], true]
  ])('L10, D6: repeats what was listed in an earlier process, with %j', async (keys, expected) => {
    const outer = scope('root/a', undefined)
    outer.view.write('k/outer', 1)
    const inner = scope('root/a/b', outer)
    const hash = hashJson(['k/a', 'k/outer'])
    inner.restore({ reads: [], lists: [['k/', hash]], used: [], writes: [] }, () => undefined)
    // Written later: the listing did not have it.
    inner.view.write('k/inner', 1)
    outer.repeatLists(new Map(outer.earlierPrefixes.map((prefix) => [prefix, keys])))
    expect([outer.view.isOutdated, inner.view.isOutdated]).toEqual([expected, expected])
    expect(outer.view.lists.get('k/')).toEqual(keys)
  })

  it('L10, D6: is outdated by a read of an earlier process that is not so any more', () => {
    const outer = scope('root/a', undefined)
    const inner = scope('root/a/b', outer)
    inner.restore({ reads: [['k', sha256Hex('1')]], used: [], writes: [] }, () => '2')
    expect([outer.view.isOutdated, inner.view.isOutdated]).toEqual([true, true])
    expect(inner.view.read('k')).toBe('2')
  })
})
