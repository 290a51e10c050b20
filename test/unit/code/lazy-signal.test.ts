import { describe, expect, it } from 'vitest'
import { LazySignal } from '../../../src/code/lazy-signal.js'

describe('LazySignal', () => {
  it('asks its source when it is read, frozen and copied too', () => {
    let asked = 0
    const controller = new AbortController()
    const source = {
      get signal() {
        asked += 1
        return controller.signal
      }
    }
    const object = Object.freeze(Object.assign(new LazySignal(source), { name: 'x' }))
    expect(asked).toBe(0)
    expect(object.signal).toBe(controller.signal)
    expect({ ...object }).toEqual({ name: 'x', signal: controller.signal })
    expect(asked).toBe(2)
  })
})
