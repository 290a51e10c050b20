/**
 * recorded: a run of a real ledger as a test of the code at hand.
 *
 * A recording has everything that a run was given: its document, input and start, the responses
 * that its effects got, what people answered, the state that it read. Replaying it is what
 * verification does with a whole ledger, with the same reducer and the same driver.
 *
 * Owns: nothing; a {@link RecordedRun} is a view of a recording, which is plain JSON. Does not own:
 * the reading of ledgers, and the replay, which the runtime and the audit have.
 *
 * - R1 A replay performs no effect, sends nothing, and writes nothing.
 * - R2 The code that made a recording replays it as `same`; what cannot be executed is said.
 * - R3 `same` is never said of a run whose versions, responses or state are not all here.
 * - R4 What a recording has in clear, its ledger has in clear: nothing is uncovered.
 */
export { openConfig } from './open-config.js'
export { fromLedger, openRecording, type RecordedReport, RecordedRun } from './recorded-run.js'
