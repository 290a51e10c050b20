// Starts the run, or goes on with it, until it ends or this process is killed.
import { flowOf } from './flow.mjs'

const { library, location, log, killedAt, count } = JSON.parse(process.argv[2])
const module = await import(library)
const flow = flowOf(module, { log, killedAt })
const tally = await module.createRuntime({
  location,
  create: 'if-absent',
  insecurePlaintextKey: true,
  serve: false,
  workflows: [flow]
})
const { response } = await tally.begin(flow, { count }, { id: 'order-1' }).result
const receipts = []
for await (const { receipt } of tally.receipts()) {
  const { id, payload, seed, sealed } = receipt.inputPayload
  const isEnd = receipt.intent === 'run.completed'
  receipts.push([
    receipt.intent,
    id,
    receipt.resultHash,
    seed,
    sealed.length,
    isEnd ? null : payload
  ])
}
const { ok, complete, failure } = await tally.verify()
console.log(JSON.stringify({ response, receipts, ok, complete, failure }))
await tally.close()
