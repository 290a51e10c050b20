/** Opens a ledger, reports what time that took and what the process weighs, and ends. */

import { elapsedMs } from '../../src/core/index.js'
import { createRuntime } from '../../src/runtime/index.js'

const [location = ''] = process.argv.slice(2)
const begin = elapsedMs()
const before = process.cpuUsage()
const tally = await createRuntime({ location })
const ms = elapsedMs() - begin
const { user, system } = process.cpuUsage(before)
const processorMs = (user + system) / 1_000
const memoryMb = process.memoryUsage().rss / 1024 / 1024
const { mode } = tally.status()
process.stdout.write(`${JSON.stringify({ ms, processorMs, memoryMb, mode })}\n`)
await tally.close()
