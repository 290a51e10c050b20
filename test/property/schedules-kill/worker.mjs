// Holds a ledger with a schedule until it is asked for the ledger, or is killed at a moment.
import { appendFileSync } from 'node:fs'

const { library, location, log, killedAt } = JSON.parse(process.argv[2])
const { createRuntime, defineWorkflow } = await import(library)

let moments = 0
const moment = () => {
  moments += 1
  if (moments === killedAt) process.kill(process.pid, 'SIGKILL')
}

const beat = defineWorkflow({
  name: 'beat',
  version: '1.0.0',
  async run(ctx) {
    await ctx.step(
      'tell',
      () => {
        moment()
        appendFileSync(log, `${ctx.runId}\n`)
        moment()
      },
      null,
      { sideEffects: 'idempotent' }
    )
    return ctx.runId
  }
})

const over = () => process.exit(0)
const tally = await createRuntime({
  location,
  create: 'if-absent',
  insecurePlaintextKey: true,
  workflows: [beat],
  schedules: [
    { name: 'beat', every: '1s', workflow: beat, overlap: 'allow', catchUp: { all: 100 } }
  ],
  handOver: { onHandOver: async (released) => void released.then(over, over) }
})
console.log('holds')
process.once('SIGTERM', () => tally.close().then(over))
setInterval(() => undefined, 60_000)
