import type { Json, JsonObject } from '../../core/index.js'
import type { QueryParts } from './query-parts.js'
import type { VerificationProgress } from './query-types.js'

type Asked = Omit<Parameters<QueryParts['verify']>[0], 'onRecord'>

/** Progress is told so often at most, however long the history. */
const STEPS = 100

/**
 * Verifies, and says how far it is: by commit records, of as many as there were when it began. The
 * last event has the whole report. A reader that is slow gets fewer events, and keeps none waiting.
 */
export async function* verifying(
  { ledger, verify }: Pick<QueryParts, 'ledger' | 'verify'>,
  { replay, ...asked }: Asked
): AsyncGenerator<VerificationProgress> {
  const total = (await ledger.past()).commits
  const phase = replay ? 'executing' : 'records'
  const step = Math.max(1, Math.ceil(total / STEPS))
  let done = 0
  let shown = 0
  let isOver = false
  let wake: () => void = () => undefined
  const onRecord = () => {
    done += 1
    if (done - shown >= step) wake()
  }
  const verified = verify({ ...asked, replay, onRecord })
  const end = () => {
    isOver = true
    wake()
  }
  verified.then(end, end)
  yield { phase, done, total }
  while (!isOver) {
    if (done - shown < step) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      continue
    }
    shown = done
    // Where a commit came meanwhile it may read on, or begin anew.
    yield { phase, done: Math.min(done, total), total }
  }
  const report = JSON.parse(JSON.stringify(await verified)) as Json as JsonObject
  yield { phase: 'done', done: total, total, report }
}
