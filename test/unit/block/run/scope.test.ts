import { describe, expect, it } from 'vitest'
import { Scope } from '../../../../src/block/run/scope.js'

function scope(path: string, outer: Scope | undefined): Scope {
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
  return new Scope(opened, { at: 0, outer, below })
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
})
