/**
 * A process that archives everything, and dies at a change on disk. The state changes before that
 * and behind it, as it does in a service: pages of it are not written at each change.
 */
import { diesAtChange } from '../../support/dies-at-change.mjs'

const document = {
  schema: 'tally-composite/1',
  name: 'note',
  version: '1',
  entry_point: 'note',
  nodes: { note: { block: 'note', input: { ref: 'request.payload' } } }
}

async function changeState(tally, text = 'before') {
  const { status } = await tally.begin(document, { inputs: { text } }).result
  if (status !== 'done') throw new Error(`the state was not changed: ${status}`)
}

async function archive(tally, path) {
  await tally.archive({ path, before: Date.now() + 60_000 })
  await changeState(tally, 'behind')
}

/** The block of this name that the test has. */
function code({ defineBlock }) {
  const run = (ctx, { text }) => {
    ctx.state.set(`texts/${text}`, text.length)
    return { text }
  }
  return { blocks: [defineBlock({ name: 'note', version: '1', sideEffects: 'none', run })] }
}

await diesAtChange(process.argv.slice(2), archive, { code, before: changeState })
