/** Starts the run `r` of a document or takes it up again, and gives it with what it waits for. */
export async function runThatWaits(tally, document) {
  const run =
    tally.run('r') === undefined ? tally.begin(document, { id: 'r' }) : await tally.resume('r')
  run.result.catch(() => undefined)
  let wait
  while (wait === undefined) {
    ;[wait] = await run.waits()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { run, wait }
}
