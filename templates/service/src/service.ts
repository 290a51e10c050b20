import Fastify, { type FastifyInstance } from 'fastify'
import { isTallyError, type Runtime } from 'tallystick'
import { Order, type OrderWorkflow } from './order.js'

/** The HTTP side. It answers 202 once the order is on disk. */
export function serviceOf(tally: Runtime, workflow: OrderWorkflow): FastifyInstance {
  const app = Fastify({ forceCloseConnections: 'idle' })

  app.setErrorHandler((error, _request, reply) => {
    if (isTallyError(error, 'run.id_reused'))
      return reply.code(409).send({ problem: error.message })
    // Nothing is known of it: the same request again finds out.
    return reply.code(503).send({ problem: 'Please repeat the request.' })
  })

  // The client chooses the id, so that it may repeat a request whose answer it did not get.
  app.put<{ Params: { id: string } }>('/orders/:id', async (request, reply) => {
    const order = Order.safeParse(request.body)
    if (!order.success) return reply.code(400).send({ problem: order.error.issues })
    return reply.code(202).send(await tally.start(workflow, order.data, { id: request.params.id }))
  })

  app.get<{ Params: { id: string } }>('/orders/:id', async (request, reply) => {
    const { id } = request.params
    const run = tally.run(id)
    if (run === undefined) return reply.code(404).send({ problem: 'There is no such order.' })
    return { id, status: run.status, progress: await tally.query(id, 'progress') }
  })

  return app
}
