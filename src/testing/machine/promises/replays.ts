import { firstBroken, type MachinePromise, shortened } from './promise.js'

/** The code gives the same again on what was recorded. */
export const replays: MachinePromise = {
  code: 'replays',
  text: 'every receipt comes out the same when its code is executed again',
  check: (evidence) =>
    firstBroken(evidence, ({ report, receipts, results, waits, isRedeployed }) => {
      const failure = report?.failure
      if (report?.difference !== undefined && failure !== undefined) {
        const { index, field, signed, computed } = failure
        const path = receipts[index]?.receipt.inputPayload.run?.path
        return {
          problem: `receipt ${index}${path === undefined ? '' : ` of ${path}`}: ${field}`,
          expected: shortened(signed),
          actual: shortened(computed),
          ...(path === undefined ? {} : { path })
        }
      }
      // A version that no open run needs any more may be gone.
      const isOver = results.length > 0 && waits.length === 0 && !isRedeployed
      if (report === undefined || !report.ok || report.complete || !isOver) return undefined
      const [missing = 'something'] = report.notChecked
      return { problem: `not everything could be executed again: ${missing}` }
    })
}
