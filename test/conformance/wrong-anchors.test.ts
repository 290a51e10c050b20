import { describe, expect, it } from 'vitest'
import { isJsonObject, type Json, sha256Hex } from '../../src/core/index.js'
import {
  type Anchor,
  type AnchorDriver,
  type Anchored,
  anchorConformance
} from '../../src/testing/index.js'
import { noteOf } from '../support/anchors.js'
import { failingChecks, neverFailed, type WrongDriver } from '../support/failing-checks.js'

/** A place in memory, which outlives those who open it. */
interface Place {
  readonly notes: (string | undefined)[]
  trouble: 'cut' | 'lost' | undefined
}

const nothing: Anchored = { kept: false, problem: 'nothing is kept there' }

function right(place: Place): Anchor {
  const reach = () => {
    if (place.trouble === 'cut') throw new Error('the place cannot be reached')
  }
  return {
    publish: async (note) => {
      reach()
      place.notes.push(note)
      const at = place.notes.length - 1
      if (place.trouble === 'lost') {
        place.trouble = undefined
        throw new Error('no answer')
      }
      return { at, sha256: sha256Hex(note) }
    },
    check: async (evidence) => {
      reach()
      const { at, sha256 } = placeIn(evidence)
      const note = place.notes[at]
      return note === undefined || sha256Hex(note) !== sha256 ? nothing : { kept: true, note }
    }
  }
}

function placeIn(evidence: Json): { readonly at: number; readonly sha256: unknown } {
  const { at, sha256 } = isJsonObject(evidence) ? evidence : {}
  return { at: Number(at), sha256 }
}

/** An anchor of which some things are otherwise; `changes` is asked anew by each process. */
function altered(changes: (anchor: Anchor, place: Place) => Partial<Anchor>) {
  return (): AnchorDriver => {
    const place: Place = { notes: [], trouble: undefined }
    return {
      open: async () => {
        const anchor = right(place)
        return { ...anchor, ...changes(anchor, place) }
      },
      note: noteOf,
      change: async (evidence, how) => {
        const { at } = placeIn(evidence)
        place.notes[at] = how === 'removed' ? undefined : `${place.notes[at]}x`
      },
      cutOff: async () => {
        place.trouble = 'cut'
        return async () => {
          place.trouble = undefined
        }
      },
      loseAnswer: async () => {
        place.trouble = 'lost'
      }
    }
  }
}

const wrong: readonly WrongDriver<AnchorDriver>[] = [
  {
    fault: 'ends each note with one line end',
    driver: altered((anchor) => ({
      publish: (note) => anchor.publish(`${note.trimEnd()}\n`)
    })),
    fails: ['gives back', 'keeps notes of any']
  },
  {
    fault: 'cuts long notes',
    driver: altered((anchor) => ({ publish: (note) => anchor.publish(note.slice(0, 10_000)) })),
    fails: ['keeps notes of any']
  },
  {
    fault: 'gives evidence that is more than plain JSON',
    driver: altered((anchor) => ({
      publish: async (note) => {
        const { at, sha256 } = placeIn(await anchor.publish(note))
        return { at, sha256, when: undefined } as unknown as Json
      }
    })),
    fails: ['gives evidence']
  },
  {
    fault: 'gives the note itself for evidence, and keeps nothing',
    driver: altered((_anchor, { trouble }) => ({
      publish: async (note) => ({ note, trouble: trouble ?? null }),
      check: async (evidence) => {
        const note = isJsonObject(evidence) ? evidence['note'] : undefined
        return typeof note === 'string' ? { kept: true, note } : nothing
      }
    })),
    fails: [
      'says of evidence',
      'does not say that a changed',
      'does not say that a removed',
      'neither',
      'keeps a note'
    ]
  },
  {
    fault: 'keeps the newest note only',
    driver: altered((anchor, { notes }) => ({
      publish: (note) => {
        notes.fill(undefined)
        return anchor.publish(note)
      }
    })),
    fails: [
      'keeps each',
      'keeps notes that',
      'finds',
      'keeps notes for',
      'does not say that a changed',
      'does not say that a removed',
      'neither',
      'keeps a note'
    ]
  },
  {
    fault: 'gives notes that come at once one place',
    driver: altered((anchor, { notes }) => ({
      publish: async (note) => {
        const at = notes.length
        await Promise.resolve()
        await anchor.publish(note)
        return { at, sha256: sha256Hex(note) }
      }
    })),
    fails: ['keeps notes that']
  },
  {
    fault: 'keeps notes in the memory of its process',
    driver: altered(() => right({ notes: [], trouble: undefined })),
    fails: [
      'keeps notes for',
      'does not say that a changed',
      'does not say that a removed',
      'neither',
      'keeps a note'
    ]
  },
  {
    fault: 'takes each note once',
    driver: altered((anchor, { notes }) => ({
      publish: async (note) => {
        if (notes.includes(note)) throw new Error('it is kept already')
        return anchor.publish(note)
      }
    })),
    fails: ['finds', 'keeps a note']
  },
  {
    fault: 'answers with the last note where it knows of none',
    driver: altered((anchor, { notes }) => ({
      check: async (evidence) => {
        const found = await anchor.check(evidence)
        return found.kept ? found : { kept: true, note: notes.findLast(Boolean) ?? '' }
      }
    })),
    fails: ['says of evidence', 'does not say that a changed', 'does not say that a removed']
  },
  {
    fault: 'does not look whether a note is as it was',
    driver: altered((anchor, { notes }) => ({
      check: async (evidence) => {
        const found = await anchor.check(evidence)
        const note = notes[placeIn(evidence).at]
        return note === undefined ? found : { kept: true, note }
      }
    })),
    fails: ['does not say that a changed']
  },
  {
    fault: 'says that nothing is kept where it cannot look',
    driver: altered((anchor) => ({
      check: (evidence) => anchor.check(evidence).catch(() => nothing)
    })),
    fails: ['neither']
  },
  {
    fault: 'says that it keeps a note that it could not send',
    driver: altered((anchor) => ({
      publish: (note) => anchor.publish(note).catch(() => ({ at: -1, sha256: '' }))
    })),
    fails: ['neither', 'keeps a note']
  },
  {
    fault: 'answers nothing while it is cut off',
    driver: altered((anchor, place) => ({
      publish: (note) =>
        place.trouble === 'cut' ? new Promise<never>(() => undefined) : anchor.publish(note)
    })),
    fails: ['late: neither']
  }
]

describe('an anchor is found wrong that', () => {
  it.each(wrong)('$fault', async ({ driver, fails }) => {
    expect(await failingChecks(anchorConformance, driver, fails)).toEqual(fails)
  })
})

it('each check of the suite for anchors fails for a wrong anchor', () => {
  expect(neverFailed(anchorConformance, wrong)).toEqual([])
})
