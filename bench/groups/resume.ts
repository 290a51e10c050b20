import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { elapsedMs } from '../../src/core/index.js'
import { createRuntime } from '../../src/runtime/index.js'
import { countingBlock, endBlock } from '../loop.js'
import { median, Scratch } from '../measure.js'
import type { Group } from '../row.js'

const STEPS = 1_000
const KILLED_AT = 500
const TIMES = 5

/** A run whose process was killed at step 500 of 1,000, up to its first new step. */
export const resume: Group = {
  rows: ['resume', 'resume.repeated-steps'],
  async measure() {
    const scratch = new Scratch()
    const times: number[] = []
    let repeated = 0
    for (let time = 0; time < TIMES; time += 1) {
      const { ms, executed } = await once(scratch.directory())
      times.push(ms)
      repeated += executed - (STEPS - KILLED_AT)
    }
    scratch.remove()
    const row = { floor: null, ratio: null, better: 'lower' } as const
    return [
      { ...row, name: 'resume', value: median(times), unit: 'ms', target: 50 },
      { ...row, name: 'resume.repeated-steps', value: repeated, unit: 'steps', target: 0 }
    ]
  }
}

async function once(location: string): Promise<{ readonly ms: number; readonly executed: number }> {
  const child = fileURLToPath(new URL('../child/interrupted.js', import.meta.url))
  const { signal } = spawnSync(process.execPath, [child, location, `${STEPS}`, `${KILLED_AT}`])
  if (signal !== 'SIGKILL') throw new Error('the run was not interrupted')
  let executed = 0
  let first = 0
  const tally = await createRuntime({
    location,
    durability: 'output',
    blocks: [
      countingBlock(() => {
        if (executed === 0) first = elapsedMs()
        executed += 1
      }),
      endBlock
    ],
    conditions: { 'goes-on': ({ data }) => Number(data) < STEPS }
  })
  // Opening has done the last receipt again, to compare it; that was no step of the run.
  executed = 0
  const begin = elapsedMs()
  const run = await tally.resume('loop')
  const { status, response } = await run.result
  await tally.close()
  if (status !== 'done' || response.data !== STEPS) throw new Error(`the run ended as ${status}`)
  return { ms: first - begin, executed }
}
