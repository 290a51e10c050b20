import { firstBroken, type MachinePromise, shortened } from './promise.js'

/** An idempotency key stands for one request. */
export const keys: MachinePromise = {
  code: 'keys',
  text: 'an idempotency key is used for one request only',
  check: (evidence) =>
    firstBroken(evidence, ({ world }) => {
      const [clash] = world.clashes
      if (clash === undefined) return undefined
      return {
        problem: `the key ${clash.key.slice(0, 12)} was used for two requests`,
        expected: shortened(clash.first),
        actual: shortened(clash.second)
      }
    })
}
