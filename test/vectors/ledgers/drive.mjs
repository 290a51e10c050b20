import { nextSignature } from './approvers.mjs'

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Answers a wait by what it asks: approves, gives a value, skips what failed. */
export function agreeable(wait) {
  if (wait.reason === 'external') return { action: 'resume', value: { given: wait.path } }
  if (wait.reason !== 'decision') return { action: 'approve' }
  if (!wait.actions.includes('resume')) return { action: 'skip' }
  return { action: 'retry' }
}

/**
 * Drives a run to its end: whatever it asks is answered by `decide`, which returns undefined to
 * leave a wait open. `tick` lets time pass where the clock is the caller's.
 */
export async function driven(run, { decide = agreeable, tick = () => undefined } = {}) {
  let end
  run.result.then(
    (result) => {
      end = { result }
    },
    (error) => {
      end = { error }
    }
  )
  const answered = new Set()
  for (let round = 0; round < 3_000; round += 1) {
    if (end?.error !== undefined) throw end.error
    if (end !== undefined) return end.result
    for (const wait of await run.waits()) {
      const name = `${wait.token} ${wait.approvals?.length ?? 0}`
      const reply = answered.has(name) ? undefined : decide(wait)
      if (reply === undefined) continue
      answered.add(name)
      await answer(run, wait, reply)
    }
    tick()
    await pause(round < 50 ? 1 : 10)
  }
  throw new Error(`run ${run.id} does not end: ${JSON.stringify(await run.waits())}`)
}

/** Signed where the wait has approvers, or with `isSigned`. */
export async function answer(run, wait, { action, value = null, isSigned = false }) {
  const needsIt = isSigned || wait.approvers !== undefined
  const signed = needsIt ? { approval: nextSignature(wait, { action, value }) } : {}
  const given = { digest: wait.digest, by: 'tester', value, ...signed }
  if (action === 'cancel') return run.cancel('enough')
  if (wait.actions.includes('signal')) return run.signal(wait.request.signal, value, { id: wait.token })
  if (action === 'approve') return run.approve(wait.token, given)
  if (action === 'deny') return run.deny(wait.token, given)
  return run.resume(wait.token, { ...given, action })
}

/** Waits until a run is parked: out of memory, with a checkpoint where it can have one. */
export async function parked(run) {
  for await (const event of run) if (event.type === 'run.parked') return
  throw new Error(`run ${run.id} has ended`)
}

/** Lets the loop turn until a condition holds. */
export async function until(holds) {
  for (let round = 0; round < 3_000; round += 1) {
    if (await holds()) return
    await pause(5)
  }
  throw new Error('it did not happen')
}
