import { runThatWaits } from '../../support/run-that-waits.mjs'

// One life: takes the run up, gives it one more signature, and dies once that was accepted.
const { library, location, approvers, seed, dies } = JSON.parse(process.argv[2])
const { createRuntime, defineBlock, signApproval } = await import(library)

const pay = defineBlock({
  name: 'pay',
  version: '1.0.0',
  sideEffects: 'none',
  run: () => ({ paid: true })
})
const document = {
  schema: 'tally-composite/1',
  name: 'p',
  version: '1.0.0',
  entry_point: 'p',
  nodes: { p: { block: 'pay', confirm: { approvers } } }
}
const tally = await createRuntime({
  location,
  create: 'if-absent',
  insecurePlaintextKey: true,
  serve: false,
  blocks: [pay]
})
const { run, wait } = await runThatWaits(tally, document)
const { token, digest, approvals = [] } = wait
const sign = (text) => {
  const answer = { token, digest, action: 'approve', value: null }
  return { digest, approval: signApproval(answer, Buffer.from(text, 'hex')) }
}
const outcome = await run.approve(token, sign(seed))
const again = await run.approve(token, sign(seed))
const told = { had: approvals.map(({ key }) => key), outcome, again, token }
process.stdout.write(`${JSON.stringify(told)}\n`, () => {
  if (dies) process.kill(process.pid, 'SIGKILL')
})
if (!dies) {
  await run.result
  await tally.close()
}
