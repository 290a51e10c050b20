// A service that takes orders over its owner socket, charges once, and hands over when it is asked.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'

const { library, location, bank, version, serial } = JSON.parse(process.argv[2])
const { createRuntime, defineBlock } = await import(library)

// What the bank has done, under the key of each request: outside of every ledger and process.
const done = (key) => existsSync(bank) && readFileSync(bank, 'utf8').includes(`${key}\n`)
const charging = {
  name: 'bank.charge',
  perform: async ({ key }) => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    appendFileSync(bank, `${key}\n`)
    return { charged: true }
  },
  locate: async ({ key }) =>
    done(key) ? { found: true, result: { charged: true } } : { found: false, definite: true }
}
const charge = defineBlock({
  name: 'charge',
  version: '1.0.0',
  sideEffects: 'non_idempotent',
  run: async (ctx, { pauseMs }) => {
    await ctx.sleep(pauseMs)
    return ctx.effect('bank.charge', { request: { order: true } })
  }
})
// A service has a server, which keeps its process alive.
setInterval(() => undefined, 60_000)
const tally = await createRuntime({
  location,
  create: 'if-absent',
  insecurePlaintextKey: true,
  blocks: [charge],
  providers: [charging],
  resume: true,
  handOver: {
    onHandOver: (released) => {
      void released.then(() => {
        console.log(JSON.stringify({ serial, at: 'released' }))
        process.exit(0)
      })
    }
  }
})
console.log(JSON.stringify({ serial, version, at: 'opened' }))
process.once('SIGTERM', async () => {
  await tally.close()
  process.exit(0)
})
