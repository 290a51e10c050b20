// One life: runs begin beside a reader of the feed, which prints what it gets; the test kills it.
const { library, location, since, life, runs } = JSON.parse(process.argv[2])
const { createRuntime, defineBlock } = await import(library)

const count = defineBlock({
  name: 'count',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => {
    const sum = (ctx.state.get('sum') ?? 0) + 1
    ctx.state.set('sum', sum)
    return sum
  }
})
const document = {
  schema: 'tally-composite/1',
  name: 'count',
  version: '1.0.0',
  entry_point: 'one',
  nodes: { one: { block: 'count' }, two: { block: 'count' } },
  transitions: { one: 'two' }
}
// A reader with nothing to come does not hold a process: this one lives until it is killed, or
// until the test that would kill it is gone.
process.stdin.resume()
const tally = await createRuntime({
  location,
  create: 'if-absent',
  insecurePlaintextKey: true,
  serve: false,
  blocks: [count]
})
await tally.resumeAll()
const print = (line) =>
  new Promise((resolve) => process.stdout.write(`${JSON.stringify(line)}\n`, resolve))
const reading = (async () => {
  for await (const event of tally.queries.feed({ since })) await print(event)
})()
const ids = Array.from({ length: runs }, (_, n) => `run-${life}-${n}`)
await Promise.all(ids.map((id) => tally.begin(document, { id }).result))
await reading
