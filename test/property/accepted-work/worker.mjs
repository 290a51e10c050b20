// A service that accepts orders over HTTP: 202 once an order's run is started. The test kills it.
import { createServer } from 'node:http'

const { library, location } = JSON.parse(process.argv[2])
const { createRuntime, defineBlock, isTallyError } = await import(library)

const charge = defineBlock({
  name: 'charge',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx, { item }) => {
    await ctx.sleep(item === 'slow' ? 3_600_000 : 1)
    return { item }
  }
})
const order = {
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'charge',
  nodes: { charge: { block: 'charge' } }
}
const tally = await createRuntime({
  location,
  create: 'if-absent',
  insecurePlaintextKey: true,
  serve: false,
  blocks: [charge]
})
const server = createServer(async (request, response) => {
  const [, id] = request.url.split('/')
  const texts = await request.setEncoding('utf8').toArray()
  const answer = (status, body) => response.writeHead(status).end(JSON.stringify(body))
  try {
    const { isNew } = await tally.start(order, { id, inputs: JSON.parse(texts.join('')) })
    answer(202, { id, isNew })
  } catch (error) {
    answer(isTallyError(error, 'run.id_reused') ? 409 : 500, { message: String(error) })
  }
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
