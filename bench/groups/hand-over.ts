import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as after } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect } from '../../src/client/index.js'
import { elapsedMs } from '../../src/core/index.js'
import { document } from '../hand-over-step.js'
import { median, Scratch } from '../measure.js'
import { type Group, shown } from '../row.js'

const CLIENTS = 8
/** How long the load goes on before a deploy and after it. */
const AROUND_MS = 500
const child = fileURLToPath(new URL('../child/handed-over.js', import.meta.url))

/**
 * What a rolling deploy costs those who ask: the longest time, by the clock, between two starts
 * that were answered, while one process hands the ledger over to the next under load.
 */
export const handOver: Group = {
  rows: ['hand-over.gap', 'hand-over.starts'],
  async measure({ rounds }) {
    const scratch = new Scratch()
    const location = scratch.directory()
    let holder = await deployed(location)
    const gaps: number[] = []
    let started = 0
    {
      await using client = await connect({ location })
      for (let round = 0; round < rounds; round += 1) {
        const answered: number[] = []
        let isOver = false
        const load = Array.from({ length: CLIENTS }, async (_, one) => {
          for (let at = 0; !isOver; at += 1) {
            await client.start(document, { id: `r${round}-${one}-${at}`, inputs: {} })
            answered.push(elapsedMs())
          }
        })
        await after(AROUND_MS)
        const released = once(holder, 'exit')
        holder = await deployed(location)
        await released
        await after(AROUND_MS)
        isOver = true
        await Promise.all(load)
        started += answered.length
        gaps.push(longestBetween(answered))
      }
    }
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    scratch.remove()
    return [
      shown('hand-over.gap', median(gaps), 'ms', 'lower'),
      shown('hand-over.starts', started, 'starts', 'higher')
    ]
  }
}

/** The next process of the service, once it has the ledger. */
async function deployed(location: string): Promise<ChildProcess> {
  const next = spawn(process.execPath, [child, location], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(createInterface(next.stdout), 'line')
  return next
}

function longestBetween(times: readonly number[]): number {
  return Math.max(...times.slice(1).map((time, index) => time - (times[index] ?? time)))
}
