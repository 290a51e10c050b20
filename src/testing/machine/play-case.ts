import type { Block, Workflow } from '../../code/index.js'
import type { Registrations } from '../../runtime/index.js'
import { type Ambient, reversed, variations, within } from '../ambient.js'
import { type Case, type Death, Script } from './case.js'
import type { CaseOptions } from './options.js'
import { type Play, type PlayOptions, play, type Stage } from './play.js'
import type { PreparedTarget } from './prepared-target.js'
import { judge, type Violation } from './promises/all.js'
import type { Evidence } from './promises/promise.js'
import { checkAnswers } from './world.js'

/** What a case has left, and what of it breaks a promise. */
export interface PlayedCase {
  readonly evidence: Evidence
  readonly violation: Violation | undefined
}

/**
 * Plays one case: without its deaths, with them, and once more with one thing varied. Throws
 * `testing.answer_missing` and `testing.answer_broken`: those are no findings about the target.
 */
export async function playCase(
  { compiled, hosted }: PreparedTarget,
  given: Case,
  { stage, options }: { readonly stage: Stage; readonly options: CaseOptions }
): Promise<PlayedCase> {
  const script = new Script(given)
  const { inputs, deaths = [], again } = given
  const hasDeaths = deaths.length > 0
  const first = { script, inputs, deaths: [], verifies: !hasDeaths }
  const undisturbed = await playIn(stage, first, {})
  const { packages = [] } = hosted ?? {}
  const evidence = { given, options, compiled, packages, undisturbed }
  const alone = { ...evidence, disturbed: undefined, again: undefined }
  // What is broken without a crash needs none to be shown.
  const broken = judge(alone)
  if (broken !== undefined) return { evidence: alone, violation: broken }
  const disturbed = hasDeaths
    ? await playIn(stage, { ...first, deaths: placed(deaths, undisturbed), verifies: true }, {})
    : undefined
  // The order in which runs beside each other commit is not promised.
  const isAlone = inputs.length === 1
  const played = isAlone ? await playAgain(stage, first, again) : undefined
  const all = { ...evidence, disturbed, again: played }
  return { evidence: all, violation: judge(all) }
}

async function playAgain(
  stage: Stage,
  options: PlayOptions,
  again: string | undefined
): Promise<Evidence['again']> {
  const variation = variations().find(({ name }) => name === again)
  if (variation === undefined) return undefined
  const { name, ambient = {}, isReversed } = variation
  const unverified = { ...options, verifies: false }
  if (isReversed !== true) return { name, play: await playIn(stage, unverified, ambient) }
  const registrations = () => withReversedInputs(stage.registrations())
  const other = { ...stage, compilations: stage.reversedCompilations, registrations }
  const inputs = options.inputs.map(reversed)
  return { name, play: await playIn(other, { ...unverified, inputs }, ambient) }
}

/** Plays with clock, chance and time zone standing still, so that a case is played alike again. */
async function playIn(stage: Stage, options: PlayOptions, ambient: Ambient): Promise<Play> {
  const played = await within(ambient, () => play(stage, options))
  checkAnswers(played.world)
  return played
}

/** Deaths are counted round after round of the boundaries of a life that does not end early. */
function placed(deaths: readonly Death[], { boundaries }: Play): readonly Death[] {
  const count = Math.max(1, boundaries)
  return deaths.map((death) => ({ ...death, at: 1 + ((death.at - 1) % count) }))
}

// A memo of a pure function, not state: what was compiled for a block serves the next case too.
const turnedBlocks = new WeakMap<Block, Block>()

function turned(block: Block): Block {
  const before = turnedBlocks.get(block)
  if (before !== undefined) return before
  const parseInput: Block['parseInput'] = (value) => block.parseInput(reversed(value))
  const after = { ...block, parseInput }
  turnedBlocks.set(block, after)
  return after
}

/** The runtime gives code one order of keys: only here does it see another. */
function withReversedInputs(registrations: Registrations): Registrations {
  const { blocks = [], workflows = [] } = registrations
  const turnedCode = (workflow: Workflow): Workflow => ({
    ...workflow,
    blocks: workflow.blocks.map(turned),
    body: (block) => turned(workflow.body(block))
  })
  return { ...registrations, blocks: blocks.map(turned), workflows: workflows.map(turnedCode) }
}
