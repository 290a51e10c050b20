// A service with many tenants, each of which begins its next write when the last is acknowledged.
// Killed by the test. Prints `made NAME`, `done NAME COUNT` and `began NAME RUN` once that is acknowledged.
const { library, location, names, from } = JSON.parse(process.argv[2])
const { openLocation, defineBlock, defineWorkflow } = await import(library)

const count = defineBlock({
  name: 'count',
  version: '1',
  sideEffects: 'none',
  intents: ['count'],
  run: (ctx, { value }) => {
    ctx.state.set(`count/${value}`, value)
    return { value }
  }
})
const slowly = defineWorkflow({
  name: 'slowly',
  version: '1',
  blocks: [count],
  async run(ctx, { value }) {
    await ctx.step('count', count, { value })
    await ctx.sleep(1)
    return { value }
  }
})
const opened = await openLocation({
  ...{ location, create: 'if-absent', insecurePlaintextKey: true, serve: false },
  ...{ blocks: [count], workflows: [slowly], openMax: 8, idleMs: 1 }
})
const say = (...words) => process.stdout.write(`${words.join(' ')}\n`)

async function write(name, place) {
  await opened.create([name])
  say('made', name)
  // Now and then it is let go of, and may be closed before it is asked for again.
  for (let value = from[place]; ; value += 1) value = await writeSome(name, value)
}

async function writeSome(name, first) {
  const tenant = await opened.identity(name)
  try {
    let value = first
    for (; value % 5 !== 4; value += 1) {
      await tenant.intent({ id: `count-${value}`, action: 'count', payload: { value } })
      say('done', name, value)
    }
    const { id } = await tenant.start(slowly, { value }, { id: `run-${value}` })
    say('began', name, id)
    await (await tenant.attach(id)).result
    say('done', name, value)
    return value
  } finally {
    await tenant.close()
  }
}

await Promise.all(names.map(write))
