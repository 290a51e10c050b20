import { describe, expect, it } from 'vitest'
import { type Overlay, overlayOf } from '../../../../src/block/run/overlay.js'
import { StateView } from '../../../../src/code/state-view.js'
import { hashJson, sha256Hex } from '../../../../src/core/index.js'
import { failed, succeeded } from '../../../support/fake-pump.js'
import {
  leafWork,
  overlayAt,
  workAttribution,
  workBlock,
  workReference
} from '../../../support/leaf-work.js'

/** C4, L10: what children do to the overlay around them, and what they have read through it. */

describe('what an overlay collects', () => {
  it('C4: is what its children sealed, used, declared and returned', () => {
    const overlay = overlayAt('root')
    overlay.collect(leafWork('root/one', { capabilitiesUsed: ['b', 'a'] }), succeeded({ n: 1 }))
    overlay.collect(leafWork('root/two', { attribution: workAttribution }), failed('boom'))
    expect(overlay.result(7)).toEqual({ result: 7, results: { one: { n: 1 } } })
    expect([overlay.sealed, [...overlay.used], [...overlay.declared]]).toEqual([
      [workReference, workReference],
      ['b', 'a', 'look'],
      ['look', 'chain']
    ])
  })

  it('C4: has no capabilities of a step that is put off: that one has a receipt of its own', () => {
    const overlay = overlayAt('root')
    const one = leafWork('root/one')
    const ask = { ...one.ask, options: { deferred: true } as const }
    overlay.collect({ ...one, ask }, succeeded(1))
    expect([[...overlay.declared], [...overlay.used]]).toEqual([[], ['look']])
  })

  it.each<[boolean, boolean, object | undefined, boolean]>([
    [false, false, undefined, false],
    [true, false, undefined, true],
    [false, true, undefined, true],
    [true, true, { isInputPrivate: false, isOutputPrivate: false }, false],
    [false, false, { isInputPrivate: true, isOutputPrivate: false }, true],
    [false, false, { isInputPrivate: false, isOutputPrivate: true }, true]
  ])(
    'C4: is private where a child is, or its provider: input %s, output %s, %j',
    (isInputPrivate, isOutputPrivate, said, isPrivate) => {
      const overlay = overlayAt('root')
      const of = { block: { ...workBlock, isInputPrivate, isOutputPrivate } }
      const by = said === undefined ? undefined : { ...workAttribution, ...said }
      overlay.collect(leafWork('root/one', { ...of, attribution: by }), succeeded(1))
      expect(overlay.isPrivate).toBe(isPrivate)
    }
  )

  it('C4: goes to the overlay around it with its commit', () => {
    const outer = overlayAt('root')
    const inner = overlayAt('root/all', outer)
    inner.collect(leafWork('root/all/one', { attribution: workAttribution }), succeeded(1))
    const data = { n: 1 }
    inner.know(data, '{"n":1}')
    inner.know(1, '1')
    inner.know(null, 'null')
    inner.view.noteWrite('k', '1')
    outer.join(inner)
    expect(outer.result(null)).toEqual({ result: null, results: { 'all/one': 1 } })
    expect([outer.sealed, [...outer.used], [...outer.declared]]).toEqual([
      [workReference],
      ['look'],
      ['chain']
    ])
    expect([[...outer.texts], [...outer.view.writes], outer.isPrivate]).toEqual([
      [[data, '{"n":1}']],
      [['k', '1']],
      true
    ])
    const open = overlayAt('root')
    open.join(overlayAt('root/all', open))
    expect(open.isPrivate).toBe(false)
  })

  it('C4: is rebuilt from what the journal keeps of it', () => {
    const view = new StateView((key) => (key === 'seen' ? '1' : undefined))
    view.read('seen')
    view.read('absent')
    view.list('z/', ['z/1'])
    view.list('a/', [])
    view.write('k', 2)
    const kept = overlayOf({
      view,
      capabilitiesUsed: ['look'],
      attribution: workAttribution as never
    })
    expect(kept).toEqual({
      writes: [['k', '2']],
      used: ['look'],
      reads: [
        ['seen', sha256Hex('1')],
        ['absent', null]
      ],
      lists: [
        ['a/', hashJson([])],
        ['z/', hashJson(['z/1'])]
      ],
      declared: ['chain'],
      isPrivate: true
    })
    const overlay = overlayAt('root')
    overlay.restore(kept, (key) => (key === 'seen' ? '1' : undefined))
    expect([[...overlay.view.writes], [...overlay.used], [...overlay.declared]]).toEqual([
      [['k', '2']],
      ['look'],
      ['chain']
    ])
    expect([overlay.isPrivate, overlay.view.isOutdated, overlay.earlierPrefixes]).toEqual([
      true,
      false,
      ['a/', 'z/']
    ])
    const untouched = { view: new StateView(() => undefined), capabilitiesUsed: [] }
    const nothing = overlayOf({ ...untouched, attribution: undefined })
    expect(nothing).toEqual({ writes: [], used: [], reads: [] })
    const open = { ...workAttribution, isOutputPrivate: false } as never
    expect(overlayOf({ ...untouched, attribution: open })).toMatchObject({ isPrivate: false })
    const other = overlayAt('root')
    other.restore(nothing, () => undefined)
    expect([other.isPrivate, other.view.isOutdated]).toEqual([false, false])
  })
})

describe('what a step has read through an overlay', () => {
  const read = (view: StateView, act: (view: StateView) => void) => {
    act(view)
    return view
  }
  const child = (overlay: Overlay) => new StateView((key) => overlay.view.read(key))

  it('L10: has changed where another step wrote one of its keys', () => {
    const overlay = overlayAt('root')
    const view = read(child(overlay), (one) => one.read('k'))
    expect(overlay.hasChanged(view)).toBe(false)
    overlay.view.write('other', 1)
    expect(overlay.hasChanged(view)).toBe(false)
    overlay.view.write('k', 1)
    expect(overlay.hasChanged(view)).toBe(true)
    const outdated = child(overlay)
    outdated.noteOutdated()
    expect(overlay.hasChanged(outdated)).toBe(true)
  })

  it.each<[string, readonly string[], (outer: Overlay, inner: Overlay) => void, boolean]>([
    ['nothing', ['k/a'], () => undefined, false],
    ['a key that it has seen', ['k/a'], (_, inner) => inner.view.write('k/a', 1), false],
    ['a new key', ['k/a'], (_, inner) => inner.view.write('k/b', 1), true],
    ['a new key around it', ['k/a'], (outer) => outer.view.write('k/b', 1), true],
    ['a key elsewhere', ['k/a'], (outer) => outer.view.write('l/b', 1), false],
    ['the end of a key', ['k/a'], (_, inner) => inner.view.write('k/a', undefined), true],
    [
      'the end of a key that it has not seen',
      [],
      (_, one) => one.view.write('k/a', undefined),
      false
    ],
    [
      'a key around it that ends inside',
      [],
      (outer, inner) => {
        outer.view.write('k/b', 1)
        inner.view.write('k/b', undefined)
      },
      false
    ]
  ])('L10: has changed where what it has listed has: %s', (_, seen, act, expected) => {
    const outer = overlayAt('root')
    const inner = overlayAt('root/all', outer)
    const view = read(child(inner), (one) => one.list('k/', seen))
    act(outer, inner)
    expect(inner.hasChanged(view)).toBe(expected)
  })
})
