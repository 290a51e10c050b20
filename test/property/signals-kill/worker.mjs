// A service that takes webhooks as signals of one order. The test kills it.
import { createServer } from 'node:http'

const { library, location, count } = JSON.parse(process.argv[2])
const { createRuntime, defineBlock } = await import(library)

const collect = defineBlock({
  name: 'collect',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => {
    const items = []
    while (items.length < count) items.push(await ctx.signal('item'))
    return items
  }
})
const order = {
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'collect',
  nodes: { collect: { block: 'collect' } }
}
const tally = await createRuntime({
  location,
  create: 'if-absent',
  insecurePlaintextKey: true,
  serve: false,
  blocks: [collect]
})
await tally.start(order, { id: 'order' })
const server = createServer(async (request, response) => {
  const id = request.url.slice(1)
  const outcome = await tally.signal('order', 'item', Number(id), { id })
  response.writeHead(outcome.accepted ? 202 : 409).end(JSON.stringify(outcome))
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
