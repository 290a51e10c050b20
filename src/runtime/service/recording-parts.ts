import type { RecordedEntry, RecordedValue, RunRecording } from '../../audit/index.js'
import { ledgerError } from '../../core/index.js'

/** A recording in parts that fit into messages: what it is, then its state, then its entries. */
export type RecordingPart =
  | { readonly recording: Omit<RunRecording, 'state' | 'entries'> }
  | { readonly state: RecordedValue }
  | { readonly entry: RecordedEntry }

export function* recordingParts({
  state,
  entries,
  ...recording
}: RunRecording): Generator<RecordingPart> {
  yield { recording }
  for (const one of state) yield { state: one }
  for (const entry of entries) yield { entry }
}

/** Throws `owner.malformed_message` where the first part is missing. */
export async function joinedRecording(parts: AsyncIterable<RecordingPart>): Promise<RunRecording> {
  let about: Omit<RunRecording, 'state' | 'entries'> | undefined
  const state: RecordedValue[] = []
  const entries: RecordedEntry[] = []
  for await (const part of parts) {
    if ('recording' in part) about = part.recording
    else if ('state' in part) state.push(part.state)
    else entries.push(part.entry)
  }
  if (about === undefined) throw ledgerError('owner.malformed_message', { problem: 'no recording' })
  return { ...about, state, entries }
}
