// Starts runs in a queue and a schedule, until all have ended or this process is killed.
import { appendFileSync } from 'node:fs'

const { library, location, log, killedAt, count, concurrency, rate } = JSON.parse(process.argv[2])
const { createRuntime, defineWorkflow } = await import(library)

let moments = 0
const moment = () => {
  moments += 1
  if (moments === killedAt) process.kill(process.pid, 'SIGKILL')
}
const tell = (line) => appendFileSync(log, `${line}\n`)

const work = defineWorkflow({
  name: 'work',
  version: '1.0.0',
  async run(ctx, id) {
    await ctx.step(
      'begin',
      () => {
        tell(`begin ${id} ${process.pid}`)
        moment()
      },
      null,
      { sideEffects: 'idempotent' }
    )
    await ctx.step(
      'call',
      async () => {
        tell(`call ${id} ${process.pid} ${Date.now()}`)
        moment()
        await new Promise((resolve) => setTimeout(resolve, 1))
        tell(`over ${id} ${process.pid}`)
        moment()
      },
      null,
      { sideEffects: 'idempotent', queue: 'calls' }
    )
    await ctx.step('end', () => tell(`end ${id} ${process.pid}`), null, {
      sideEffects: 'idempotent'
    })
    moment()
    return id
  }
})

const tally = await createRuntime({
  location,
  create: 'if-absent',
  insecurePlaintextKey: true,
  serve: false,
  workflows: [work],
  queues: { runs: { concurrency }, calls: { concurrency: 1, rate } }
})
tell(`life ${process.pid}`)
const results = []
for (let id = 0; id < count; id += 1) {
  await tally.start(work, id, { id: `r${id}`, queue: { name: 'runs', partition: `p${id % 3}` } })
  results.push((await tally.attach(`r${id}`)).result)
  moment()
}
for (const result of results) await result
const { ok, complete } = await tally.verify()
const queues = await tally.queues()
console.log(JSON.stringify({ ok, complete, queues: queues.map(({ waiting }) => waiting) }))
await tally.close()
