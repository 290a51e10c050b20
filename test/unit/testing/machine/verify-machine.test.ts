import { describe, expect, it } from 'vitest'
import { isTallyError } from '../../../../src/core/index.js'
import { verifyMachine } from '../../../../src/testing/index.js'
import { cases, isTaken } from '../../../support/effort.js'
import { plantedFaults } from '../../../support/planted-faults.js'

/** In the usual form the first fault of most promises and a share of the others. */
/** Their runs live through another version of the code. */
const dear = ['replays', 'continues']

const faults = plantedFaults.filter(({ promise }, place) => {
  const isFirst = plantedFaults.findIndex((one) => one.promise === promise) === place
  return isTaken(place, 4) || (isFirst && !dear.includes(promise))
})

describe('verifyMachine', () => {
  it.each(faults)('finds a block that $name', async ({ target, options, promise }) => {
    const asked = { cases: cases({ usual: 20, long: 28, soak: 55 }), ...options }
    const error = await verifyMachine(target, asked).then(
      () => undefined,
      (thrown: unknown) => thrown
    )
    if (!isTallyError(error, 'testing.promise_broken')) throw error ?? new Error('nothing is found')
    expect(error.context.promise, error.message).toBe(promise)
  })
})
