import { describe, expect, it } from 'vitest'
import { laneOf } from '../../../../src/console/page/pure/lanes.js'
import {
  asCharted,
  firstFailure,
  isUnderWay,
  type JournalRow,
  pastOf,
  type RunStep,
  type StepState
} from '../../../../src/console/page/pure/run-steps.js'
import { Registry } from '../../../../src/runtime/code/registry.js'
import type { ActorAt } from '../../../../src/runtime/index.js'
import { linesNamed } from '../../../support/inspected.js'
import { journalScenes, sceneRegistrations } from '../../../support/journal-scenes.js'
import { World } from '../../../support/lives.js'
import { picturesOf } from '../../../support/recorded-pictures.js'

/** Steps of a run as the timeline shows them, compared with where its charts stand. */

interface Recorded {
  readonly rows: readonly JournalRow[]
  /** After each entry. */
  readonly actors: readonly (readonly ActorAt[])[]
}

async function recorded(name: string): Promise<Recorded> {
  const lines = linesNamed(name)
  const pictures = await picturesOf(lines, await Registry.open(sceneRegistrations(new World())))
  const rows = lines.map(({ text }) => ({ entry: JSON.parse(text), receiptHash: null }))
  return { rows, actors: pictures?.map((picture) => picture?.actors ?? []) ?? [] }
}

const marks: Readonly<Record<StepState, ActorAt['mark']>> = {
  running: 'BUSY',
  waiting: 'WAITING',
  done: 'READY',
  failed: 'READY',
  cancelled: 'READY'
}

/** Steps that are shown otherwise than their actors stand, of those that have one. */
function differences(steps: readonly RunStep[], actors: readonly ActorAt[]): readonly string[] {
  return steps.flatMap((step) => {
    const actor = actors.find((one) => one.path === step.path && one.step === step.step)
    if (step.isFuture || actor === undefined || marks[step.state] === actor.mark) return []
    // Code of a workflow is shown at work until its run ends, which is the next entry.
    if (step.path === 'root' && step.state === 'running' && actor.mark === 'READY') return []
    return [`${step.step}.${step.path} is ${step.state}, its chart ${actor.value}`]
  })
}

describe('B3: steps in the timeline', () => {
  it.each(Object.keys(journalScenes))('stand as their charts do: %s', async (name) => {
    const { rows, actors } = await recorded(name)
    for (const [at, marked] of actors.entries()) {
      const past = asCharted(pastOf(rows, at), marked)
      // Without its code a run is ended by its journal alone, and its charts get nothing.
      if (past.status === 'cancelled') continue
      expect(differences(past.steps, marked), `after entry ${at}`).toEqual([])
    }
  })

  it.each(Object.keys(journalScenes))('are over once their run is: %s', async (name) => {
    const { rows } = await recorded(name)
    const last = rows.length - 1
    const { steps, status } = pastOf(rows, last)
    if (isUnderWay(status)) return
    expect(steps.filter(({ state }) => isUnderWay(state))).toEqual([])
    for (const step of steps) {
      const { bars } = laneOf(rows, step, last)
      expect(bars.filter(({ kind, to }) => kind === 'busy' && to > last)).toEqual([])
    }
  })

  it('are compared in most scenes, which end', async () => {
    const names = Object.keys(journalScenes)
    let compared = 0
    for (const name of names) {
      const { rows, actors } = await recorded(name)
      const { status } = pastOf(rows, rows.length - 1)
      if (actors.length === rows.length && !isUnderWay(status)) compared += 1
    }
    expect(compared).toBeGreaterThan(names.length / 2)
  })

  it('are under way while they will be tried again, which a bar says', async () => {
    const { rows, actors } = await recorded('retries')
    const shown = actors.flatMap((marked, at) => {
      const journaled = pastOf(rows, at)
      const charted = asCharted(journaled, marked)
      return journaled.steps.flatMap(({ state }, index) => {
        const step = charted.steps[index]
        if (step === undefined || state !== 'failed' || step.state === 'failed') return []
        return [`${step.state} ${laneOf(rows, step, at).bars.at(-1)?.kind}`]
      })
    })
    expect(new Set(shown)).toEqual(new Set(['running backoff', 'waiting backoff']))
  })

  it('end with their run where they are its code, and the first failure is that of a step', async () => {
    const { rows } = await recorded('in-code-rolled-back')
    const last = rows.length - 1
    const past = pastOf(rows, last)
    const [root] = past.steps
    expect(root).toMatchObject({ path: 'root', state: 'failed', to: last })
    expect(root && laneOf(rows, root, last).bars.at(-1)).toMatchObject({ kind: 'failed', to: last })
    expect(firstFailure(past)?.path).not.toBe('root')
    expect(firstFailure(pastOf(rows, 1))).toBeUndefined()
  })
})
