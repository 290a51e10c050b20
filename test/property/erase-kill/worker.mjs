/** A process that erases a subject, and dies at a change on disk. */
import { diesAtChange } from '../../support/dies-at-change.mjs'

await diesAtChange(process.argv.slice(2), (tally, subject) => tally.erase(subject))
