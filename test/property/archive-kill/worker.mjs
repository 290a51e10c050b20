/** A process that archives everything, and dies at a change on disk. */
import { diesAtChange } from '../../support/dies-at-change.mjs'

await diesAtChange(process.argv.slice(2), (tally, path) =>
  tally.archive({ path, before: Date.now() + 60_000 })
)
