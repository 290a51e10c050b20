/**
 * The service: a Fastify server in front of a ledger. Orders come in over HTTP, the bank's webhooks
 * are signals, large orders wait for a person, and a deploy takes the ledger over from the process
 * before it.
 *
 *   node service.js '{"location":"ledger","bank":"http://127.0.0.1:7000","release":0}'
 */
import { readFile } from 'node:fs/promises'
import Fastify from 'fastify'
import { createRuntime, isTallyError } from 'tallystick'
import { z } from 'zod'
import { bankAt } from './bank-client.js'
import { blocksOf, Order } from './blocks.js'

const Settings = z.object({ location: z.string(), bank: z.string(), release: z.int().min(0) })
const Webhook = z.object({
  id: z.string(),
  order: z.string(),
  data: z.object({ reference: z.string() })
})
const Approval = z.object({ token: z.string(), digest: z.string(), approve: z.boolean() })

const { location, bank, release } = Settings.parse(JSON.parse(process.argv[2] ?? '{}'))
const source = new URL('../../../examples/05-orders/order.yaml', import.meta.url)
const document = await readFile(source, 'utf8')
const app = Fastify({ forceCloseConnections: 'idle' })

const tally = await createRuntime({
  location,
  create: 'if-absent',
  insecurePlaintextKey: true,
  blocks: blocksOf(release),
  providers: [bankAt(bank)],
  handOver: {
    onHandOver: async (released) => {
      void released.then(() => process.exit(0))
      await app.close()
    }
  }
})

app.setErrorHandler((error, _request, reply) => {
  if (error instanceof z.ZodError) return reply.code(400).send({ problem: error.message })
  if (isTallyError(error, 'run.id_reused')) return reply.code(409).send({ problem: error.message })
  if (isTallyError(error, 'run.not_found')) return reply.code(404).send({ problem: error.message })
  // Nothing is known of it: the same request, to this process or the next, finds out.
  return reply.code(503).send({ problem: 'Please repeat the request.' })
})

// 202: the order will be carried out, whatever happens to this process.
app.put<{ Params: { id: string } }>('/orders/:id', async (request, reply) => {
  const inputs = Order.parse(request.body)
  return reply.code(202).send(await tally.start(document, { id: request.params.id, inputs }))
})

app.get<{ Params: { id: string } }>('/orders/:id', async (request, reply) => {
  const run = tally.run(request.params.id)
  if (run === undefined) return reply.code(404).send({ problem: 'There is no such order.' })
  return { id: run.runId, status: run.status }
})

// The bank repeats a webhook until it is taken: its id makes that once.
app.post('/webhooks/bank', async (request, reply) => {
  const { id, order, data } = Webhook.parse(request.body)
  const outcome = await tally.signal(order, 'settled', data, { id })
  const isOver = outcome.accepted || outcome.reason === 'run_ended'
  return reply.code(isOver ? 200 : 503).send(outcome)
})

app.get('/approvals', async () => {
  const { items } = await tally.queries.waits({ limit: 50 })
  return items.flatMap(({ runId, wait }) =>
    wait.reason === 'confirmation'
      ? [{ id: runId, token: wait.token, digest: wait.digest, request: wait.request }]
      : []
  )
})

app.post<{ Params: { id: string } }>('/approvals/:id', async (request) => {
  const { token, digest, approve } = Approval.parse(request.body)
  const run = await tally.attach(request.params.id)
  // Named by its token: an answer that is sent again changes nothing.
  const answer = { digest, by: 'ops', commandId: token.slice(0, 32) }
  return approve ? run.approve(token, answer) : run.deny(token, answer)
})

process.once('SIGTERM', async () => {
  await app.close()
  await tally.close()
  process.exit(0)
})
const address = await app.listen({ host: '127.0.0.1', port: 0 })
console.log(`listening ${new URL(address).port}`)
