import type { WiredRuntime } from '../../src/runtime/index.js'
import { nextSignature } from './approvers.js'

/** Answering what runs wait for, one wait after the other. */

export type Answer = 'approve' | 'deny' | 'resume'

/** Answers the only wait of a run; resolves when it has ended or waits for something else. */
export async function answer(tally: WiredRuntime, id: string, action: Answer) {
  const run = await tally.attach(id)
  const [wait, ...others] = await run.waits()
  if (wait === undefined || others.length > 0) throw new Error('it does not wait for one answer')
  for (let given = 0; given < (wait.approvers?.threshold ?? 1); given += 1) {
    const [open = wait] = await run.waits()
    const approval = nextSignature(open, { action, value: null })
    const signed = approval === undefined ? {} : { approval }
    const { accepted } = await run[action](wait.token, { digest: wait.digest, ...signed })
    if (!accepted || action === 'deny') break
  }
  await atRest(tally, id, wait.token)
  return wait
}

/** Until a run has ended, or waits for another answer than this one. */
async function atRest(tally: WiredRuntime, id: string, answered: string): Promise<void> {
  const run = await tally.attach(id)
  for (;;) {
    const status = tally.run(id)?.status
    if (status !== 'running' && status !== 'waiting') return
    const waits = await run.waits()
    if (waits.length > 0 && waits.every(({ token }) => token !== answered)) return
    await new Promise((resolve) => setImmediate(resolve))
  }
}
