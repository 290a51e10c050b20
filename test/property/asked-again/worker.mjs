import { appendFileSync } from 'node:fs'
import { runThatWaits } from '../../support/run-that-waits.mjs'

// One life: takes the run up, answers what it asks with the old answers first, and dies in the act.
const { library, location, sent, used } = JSON.parse(process.argv[2])
const { createRuntime, defineBlock } = await import(library)

const pay = defineBlock({
  name: 'pay',
  version: '1.0.0',
  sideEffects: 'non_idempotent',
  run: (ctx) =>
    ctx.effect('bank', {
      request: 1,
      perform: () => {
        appendFileSync(sent, 'sent\n')
        process.kill(process.pid, 'SIGKILL')
      }
    })
})
const document = {
  schema: 'tally-composite/1',
  name: 'p',
  version: '1.0.0',
  entry_point: 'p',
  nodes: { p: { block: 'pay' } }
}
const tally = await createRuntime({
  location,
  create: 'if-absent',
  insecurePlaintextKey: true,
  blocks: [pay]
})
const { run, wait } = await runThatWaits(tally, document)
const again = []
for (const answer of used) again.push(await run.resume(answer.token, answer))
const { token, digest, asking } = wait
process.stdout.write(`${JSON.stringify({ token, digest, asking, again })}\n`)
await run.resume(token, { digest, action: 'retry' })
// It ends by its own signal.
await new Promise(() => setInterval(() => undefined, 1000))
