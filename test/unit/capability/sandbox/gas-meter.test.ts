import { describe, expect, it } from 'vitest'
import { GasMeter } from '../../../../src/capability/sandbox/gas-meter.js'

/** A meter of an engine that takes steps when it is asked to. */
function metered() {
  const steps = { value: 0n }
  const meter = new GasMeter({ perTick: 100, polledMax: 1_000 })
  meter.attach(steps)
  const take = (count: number) => {
    steps.value -= BigInt(count)
  }
  return { meter, take }
}

describe('the meter of gas', () => {
  it('X11: counts steps in ticks that have begun, and is spent one step after the last', () => {
    const { meter, take } = metered()
    meter.allow(3, 'steps')
    expect(meter.ticks).toBe(0)
    take(1)
    expect(meter.ticks).toBe(1)
    take(299)
    expect(meter).toMatchObject({ ticks: 3, isSpent: false })
    take(1)
    expect(meter).toMatchObject({ ticks: 4, isSpent: true })
    take(10_000)
    expect(meter.ticks).toBe(4)
  })

  it('X11: counts polls alone under the first interface, up to a far bound of steps', () => {
    const { meter, take } = metered()
    meter.allow(2, 'polls')
    meter.polled()
    meter.polled()
    take(1_000)
    expect(meter).toMatchObject({ ticks: 2, isSpent: false })
    take(1)
    expect(meter).toMatchObject({ ticks: 2, isSpent: true })
    meter.allow(2, 'polls')
    for (let poll = 0; poll < 3; poll += 1) meter.polled()
    expect(meter).toMatchObject({ ticks: 3, isSpent: true })
  })

  it('X1: begins anew with each allowance', () => {
    const { meter, take } = metered()
    meter.allow(1, 'steps')
    take(500)
    meter.polled()
    meter.allow(1, 'steps')
    expect(meter).toMatchObject({ ticks: 0, isSpent: false })
  })
})
