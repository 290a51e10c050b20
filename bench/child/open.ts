/** Opens a ledger, reports how long that took and what the process weighs, and ends. */

import { elapsedMs } from '../../src/core/index.js'
import { createRuntime } from '../../src/runtime/index.js'

const [location = ''] = process.argv.slice(2)
const begin = elapsedMs()
const tally = await createRuntime({ location })
const ms = elapsedMs() - begin
const memoryMb = process.memoryUsage().rss / 1024 / 1024
process.stdout.write(`${JSON.stringify({ ms, memoryMb, mode: tally.status().mode })}\n`)
await tally.close()
