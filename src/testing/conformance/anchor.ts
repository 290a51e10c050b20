import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { canonicalize, type Json, limits } from '../../core/index.js'
import { type ConformanceCheck, type Opened, runCheck } from './check.js'

/** What an anchor says of the evidence of a publication. */
export type Anchored =
  /** The note is kept, to the byte as it was published. */
  | { readonly kept: true; readonly note: string }
  /** No such note is kept, or not as it was. */
  | { readonly kept: false; readonly problem: string }

/**
 * The port to a place outside of a ledger that keeps its notes (P5). A process that may write the
 * ledger must not be able to change what is there: no check can see that, since it is a matter of
 * where the place is and who owns it.
 */
export interface Anchor {
  /**
   * Keeps a note as it is, beside all that were published before. Gives the evidence by which it is
   * found again: plain JSON, to be kept with the ledger or anywhere. Rejects where the note may not
   * be kept; given again it is found by either evidence.
   */
  publish(note: string): Promise<Json>
  /** What is kept. Rejects where that cannot be known now: silence is no answer. */
  check(evidence: Json): Promise<Anchored>
  close?(): Promise<void>
}

/** One check of {@link anchorConformance}. */
export type AnchorCheck = ConformanceCheck<AnchorDriver>

/** What the suite needs of an anchor under test. */
export interface AnchorDriver {
  /** Opens the place; again, as another process does. */
  open(): Promise<Anchor>
  /**
   * A note that was not published before, signed or not: an anchor does not judge what it keeps.
   */
  note(number: number): string
  /** Changes what is kept under an evidence, past the port; leave it out where nothing can. */
  change?(evidence: Json, how: 'altered' | 'removed'): Promise<void>
  /** Cuts the place off until what is returned is called; leave it out where it is always there. */
  cutOff?(): Promise<() => Promise<void>>
  /**
   * The next publication is carried out, and its answer is lost; leave it out where none can be.
   */
  loseAnswer?(): Promise<void>
}

/** The suite that every anchor passes. Run each check under the test runner of your choice. */
export const anchorConformance: readonly AnchorCheck[] = [
  check('gives back a note by its evidence, to the byte', givesBack),
  check('gives evidence that is plain JSON and small', givesPlainEvidence),
  check('keeps notes of any size up to the limit', keepsAnySize),
  check('keeps each note beside those before and after it', keepsAll),
  check('keeps notes that are published at once, each by its own evidence', keepsAtOnce),
  check('finds a note that was published twice by either evidence', keepsTwice),
  check('keeps notes for the next process', keepsForNext),
  check('says of evidence of nothing that nothing is kept', knowsNothing),
  check('does not say that a changed note is kept', seesChange),
  check('does not say that a removed note is kept', seesRemoval),
  check('neither keeps nor denies while it is cut off, and does again later', survivesCut),
  check('keeps a note whose publication was not answered, when it is published again', losesAnswer)
]

interface Test {
  readonly anchor: Anchor
  readonly driver: AnchorDriver
  readonly opened: Opened
}

function check(name: string, act: (test: Test) => Promise<void>): AnchorCheck {
  return {
    name,
    run: (driver, options = {}) =>
      runCheck(name, options, async (opened) => {
        await act({ anchor: await openIn(opened, driver), driver, opened })
      })
  }
}

async function openIn(opened: Opened, driver: AnchorDriver): Promise<Anchor> {
  const anchor = await driver.open()
  opened.onEnd(() => anchor.close?.())
  return anchor
}

const CALLS = 12

async function givesBack({ anchor, driver }: Test): Promise<void> {
  const note = `${driver.note(1)}\n— ünïcode \u2028 and its end\n\n`
  await isKept(anchor, { note, evidence: await anchor.publish(note) })
}

async function givesPlainEvidence({ anchor, driver }: Test): Promise<void> {
  const note = driver.note(1)
  const evidence = await anchor.publish(note)
  const text = canonicalize(evidence)
  const bytes = Buffer.byteLength(text)
  ok(bytes <= limits.ANCHOR_EVIDENCE_BYTES_MAX, `evidence of ${bytes} bytes`)
  deepEqual(JSON.parse(text), evidence)
  await isKept(anchor, { note, evidence: JSON.parse(text) as Json })
}

async function keepsAnySize({ anchor, driver }: Test): Promise<void> {
  for (const length of [1, 4_096, limits.NOTE_BYTES_MAX]) {
    const note = driver.note(length).padEnd(length, '-').slice(0, length)
    await isKept(anchor, { note, evidence: await anchor.publish(note) })
  }
}

async function keepsAll({ anchor, driver }: Test): Promise<void> {
  const published: Published[] = []
  for (let number = 0; number < CALLS; number += 1) {
    const note = driver.note(number)
    published.push({ note, evidence: await anchor.publish(note) })
    for (const one of published) await isKept(anchor, one)
  }
}

async function keepsAtOnce({ anchor, driver }: Test): Promise<void> {
  const notes = Array.from({ length: CALLS }, (_, number) => driver.note(number))
  const published = await Promise.all(
    notes.map(async (note) => ({ note, evidence: await anchor.publish(note) }))
  )
  await Promise.all(published.map((one) => isKept(anchor, one)))
}

async function keepsTwice({ anchor, driver }: Test): Promise<void> {
  const note = driver.note(1)
  const first = await anchor.publish(note)
  await anchor.publish(driver.note(2))
  const second = await anchor.publish(note)
  for (const evidence of [first, second]) await isKept(anchor, { note, evidence })
}

async function keepsForNext({ anchor, driver, opened }: Test): Promise<void> {
  const note = driver.note(1)
  const evidence = await anchor.publish(note)
  await anchor.close?.()
  const next = await openIn(opened, driver)
  await isKept(next, { note, evidence })
  const later = driver.note(2)
  await isKept(next, { note: later, evidence: await next.publish(later) })
  await isKept(next, { note, evidence })
}

/** Evidence that looks like evidence of this anchor, and evidence that does not. */
async function knowsNothing({ anchor, driver }: Test): Promise<void> {
  const evidence = await anchor.publish(driver.note(1))
  const others: readonly Json[] = [null, '', 0, [], {}, 'no such place', otherwise(evidence)]
  for (const one of others) await isNotKept(anchor, one)
}

async function seesChange({ anchor, driver }: Test): Promise<void> {
  await isLost({ anchor, driver, how: 'altered' })
}

async function seesRemoval({ anchor, driver }: Test): Promise<void> {
  await isLost({ anchor, driver, how: 'removed' })
}

async function isLost({
  anchor,
  driver,
  how
}: Pick<Test, 'anchor' | 'driver'> & { readonly how: 'altered' | 'removed' }): Promise<void> {
  const first = driver.note(1)
  const kept = { note: first, evidence: await anchor.publish(first) }
  const evidence = await anchor.publish(driver.note(2))
  if (driver.change === undefined) return
  await driver.change(evidence, how)
  await isNotKept(anchor, evidence)
  await isKept(anchor, kept)
}

async function survivesCut({ anchor, driver, opened }: Test): Promise<void> {
  const note = driver.note(1)
  const evidence = await anchor.publish(note)
  if (driver.cutOff === undefined) return
  const reconnect = await driver.cutOff()
  let isCut = true
  const again = async () => {
    if (isCut) await reconnect()
    isCut = false
  }
  opened.onEnd(again)
  await rejects(async () => anchor.publish(driver.note(2)), 'it says that it keeps a note')
  await rejects(async () => anchor.check(evidence), 'it says what it cannot know')
  await again()
  await isKept(anchor, { note, evidence })
  const later = driver.note(2)
  await isKept(anchor, { note: later, evidence: await anchor.publish(later) })
}

async function losesAnswer({ anchor, driver }: Test): Promise<void> {
  const before = driver.note(1)
  const kept = { note: before, evidence: await anchor.publish(before) }
  if (driver.loseAnswer === undefined) return
  await driver.loseAnswer()
  const note = driver.note(2)
  await rejects(async () => anchor.publish(note), 'it has no answer')
  await isKept(anchor, { note, evidence: await anchor.publish(note) })
  await isKept(anchor, kept)
}

interface Published {
  readonly note: string
  readonly evidence: Json
}

async function isKept(anchor: Anchor, { note, evidence }: Published): Promise<void> {
  deepEqual(await anchor.check(evidence), { kept: true, note })
}

async function isNotKept(anchor: Anchor, evidence: Json): Promise<void> {
  const anchored = await anchor.check(evidence)
  equal(anchored.kept, false, 'it says that a note is kept')
}

/** The same form with other values: of another publication, which never was. */
function otherwise(value: Json): Json {
  if (typeof value === 'string') return [...value].map(turned).join('')
  if (typeof value === 'number') return value + 1_000_003
  if (Array.isArray(value)) return value.map(otherwise)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, otherwise(one)]))
}

function turned(letter: string): string {
  if (/[0-8a-eg-yA-EG-Y]/.test(letter)) return String.fromCharCode(letter.charCodeAt(0) + 1)
  return /[9fzFZ]/.test(letter) ? '0' : letter
}
