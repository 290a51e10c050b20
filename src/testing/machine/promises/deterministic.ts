import { canonicalize } from '../../../core/index.js'
import { resultEssence } from '../essence.js'
import type { Play } from '../play.js'
import { type Broken, type Evidence, type MachinePromise, playsOf, shortened } from './promise.js'

/** What varies between processes reaches nothing that is signed. */
export const deterministic: MachinePromise = {
  code: 'deterministic',
  text: 'the same case leaves the same receipts, whatever clock, chance and key order say',
  check: (evidence) => diverged(evidence) ?? differing(evidence)
}

function diverged(evidence: Evidence): Broken | undefined {
  for (const { error } of playsOf(evidence)) {
    if (error?.code !== 'run.diverged') continue
    const problem = 'run again after a crash, the code asked for something else than before'
    return { problem, expected: 'the same call in the same place', actual: error.message }
  }
  return undefined
}

function differing({ undisturbed, again }: Evidence): Broken | undefined {
  if (again === undefined) return undefined
  const { name, play } = again
  const what = name === 'nothing' ? 'two equal plays differ' : `${name} alone was varied`
  for (const [index, one] of undisturbed.receipts.entries()) {
    const other = play.receipts[index]
    if (other?.receipt.receiptHash === one.receipt.receiptHash) continue
    const path = one.receipt.inputPayload.run?.path
    return {
      problem: `${what}, and receipt ${index}${path === undefined ? '' : ` of ${path}`} differs`,
      expected: shortened(one.resultText ?? 'a result'),
      actual: shortened(other?.resultText ?? 'no such receipt'),
      ...(path === undefined ? {} : { path })
    }
  }
  const first = endOf(undisturbed)
  const second = endOf(play)
  if (first === second) return undefined
  return {
    problem: `${what}, and the run ends otherwise`,
    expected: shortened(first),
    actual: shortened(second)
  }
}

function endOf({ results, receipts }: Play): string {
  return canonicalize({ results: results.map(resultEssence), receipts: receipts.length })
}
