import { assert, canonicalize, type IdentityId, type Json } from '../../core/index.js'
import type { JournalEntry, OverlayEnded, Settled } from '../run/entries.js'
import type { UnitDraft } from '../run/journal.js'
import type { RootBlock } from '../run/root-block.js'
import {
  begun,
  completedUnit,
  leafUnit,
  overlayUnit,
  seedOf,
  type UnitContext,
  unitContextOf,
  unitIdOf
} from '../run/unit.js'
import { differing, unexpected } from './finding.js'
import { leafAgain } from './leaf-work.js'
import { overlayAgain, responseFinding } from './overlay-again.js'
import {
  type AskedAttempt,
  type Below,
  type CompensationPort,
  found,
  type RecordedUnit,
  type RedoOptions,
  type UnitAgain
} from './redo.js'
import type { ReplayState } from './replay-state.js'

interface Given {
  readonly state: ReplayState
  readonly identity: IdentityId
  readonly root: RootBlock
  readonly below: Below
  readonly executions: number
  readonly undo: CompensationPort
}

/** Does the unit that a checked entry completes again, on the state before it. */
export async function unitAgain(
  entry: JournalEntry,
  recorded: RecordedUnit,
  given: Given
): Promise<UnitAgain> {
  const { singleStep } = given.state
  switch (entry.k) {
    case 'settled':
      return leaf(entry, given.state.attemptAt(entry), recorded, given)
    case 'scope':
      return overlay(entry, recorded, given)
    case 'run.finished':
      if (!given.root.isUnit) return { kind: 'unit', draft: ending(entry, recorded, given) }
      assert(singleStep !== undefined, 'a run that is done has settled')
      // The attempt of a run that is nothing else has settled before the run ended.
      return leaf(singleStep.settled, singleStep.attempt, recorded, given)
    default:
      return { kind: 'finding', finding: unexpected('receipt', 'no receipt', entry.k) }
  }
}

async function leaf(
  entry: Settled,
  attempt: AskedAttempt | undefined,
  recorded: RecordedUnit,
  given: Given
): Promise<UnitAgain> {
  assert(attempt !== undefined, 'a checked entry has its attempt')
  if (attempt.at !== recorded.at) {
    return found(differing('inputPayload.run.at', attempt.at, recorded.at))
  }
  const recordedResults = attempt.past.recorded.whole()
  const { provider } = entry
  const options = { ...redoOptions(given), at: recorded.at, recordedResults, provider }
  const again = await leafAgain(attempt, options)
  if (again.kind !== 'done') return again
  const response = responseFinding(again.resultText, entry.response)
  if (response !== undefined) return found(response)
  given.state.texts.keep(entry.response.data, again.resultText)
  const context = contextOf(given, recorded.profile)
  const draft = leafUnit(again.work, context, attempt.payloadText, again.resultText)
  return { kind: 'unit', draft }
}

async function overlay(
  entry: OverlayEnded,
  recorded: RecordedUnit,
  given: Given
): Promise<UnitAgain> {
  const opened = given.state.openOverlays.get(entry.path)
  assert(opened !== undefined, 'a checked entry has its overlay')
  if (opened.at !== recorded.at) {
    return found(differing('inputPayload.run.at', opened.at, recorded.at))
  }
  const options = redoOptions(given)
  const again = await overlayAgain(opened, options)
  if (again.kind !== 'done') return again
  const id = unitIdOf(options.runId, entry.path, entry.step)
  const draft = overlayUnit(again.overlay, contextOf(given, recorded.profile), {
    id,
    seed: { base: options.base, value: seedOf(options.base, id) },
    payloadText: canonicalize(opened.ask.request.payload),
    resultText: canonicalize(again.overlay.result(entry.response.data))
  })
  return { kind: 'unit', draft }
}

function ending(
  entry: JournalEntry & { readonly k: 'run.finished' },
  { profile }: RecordedUnit,
  given: Given
): UnitDraft {
  const dataText = canonicalize(entry.response.data)
  return completedUnit(given.state, dataText, contextOf(given, profile))
}

function redoOptions(given: Given): RedoOptions & { readonly below: Below } {
  const { state, executions, below, undo } = given
  const { runId, base } = state
  return { runId, base, principal: begun(state.started).principal, executions, below, undo }
}

function contextOf({ state }: Given, profile: Json): UnitContext {
  return unitContextOf(state, profile)
}
