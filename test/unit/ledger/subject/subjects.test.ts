import { expect, it } from 'vitest'
import {
  canonicalize,
  type IdentityId,
  type JsonObject,
  limits,
  type RunId
} from '../../../../src/core/index.js'
import type { JournalItem } from '../../../../src/ledger/item.js'
import { SubjectCipher } from '../../../../src/ledger/subject/cipher.js'
import { SubjectKeysInMemory } from '../../../../src/ledger/subject/subject-keys.js'
import { RunSubjects } from '../../../../src/ledger/subject/subjects.js'

const identity = 'a'.repeat(64) as IdentityId
const runOf = (number: number) => `run-${number}` as RunId

/** The subjects of a ledger in which each run that has begun has its first entry, as stored. */
async function opened() {
  const keys = new SubjectKeysInMemory(() => new Uint8Array(32).fill(1))
  const cipher = new SubjectCipher(identity, keys)
  const started = new Map<RunId, JsonObject>()
  const asked: RunId[] = []
  const subjects = new RunSubjects({
    ...{ blobKey: new Uint8Array(32), keys, cipher, read: () => undefined },
    onDestroyed: () => undefined,
    startedOf: (runId) => {
      asked.push(runId)
      return started.get(runId)
    }
  })
  await subjects.begin('customer')
  const id = subjects.idOf('customer')
  const begin = (runId: RunId) => {
    const entry = { at: 1, k: 'run.started', n: 0, run: runId, subject: 'customer' }
    const text = canonicalize({ ...entry, status: 'running' })
    const taken = subjects.take({ runId, entries: [text] } as unknown as JournalItem)
    started.set(runId, JSON.parse(cipher.encryptEntry(id, runId, text)) as JsonObject)
    return taken
  }
  return { subjects, id, begin, asked }
}

it('G5: of any number of open runs the last ones are known, and the others asked for', async () => {
  const { subjects, id, begin, asked } = await opened()
  const MORE = 3
  for (let number = 0; number < limits.RUNS_LIVE_MAX + MORE; number += 1) {
    expect(begin(runOf(number))).toBe(id)
  }
  expect(subjects.of(runOf(MORE))).toBe(id)
  expect(subjects.of(runOf(limits.RUNS_LIVE_MAX + MORE - 1))).toBe(id)
  expect(asked).toEqual([])
  for (let number = 0; number < MORE; number += 1) expect(subjects.of(runOf(number))).toBe(id)
  expect(asked).toEqual([runOf(0), runOf(1), runOf(2)])
})

it('G5: no run that is about to begin is forgotten; there is a bound to how many', async () => {
  const { subjects, id, begin, asked } = await opened()
  for (let number = 0; number < limits.RUNS_LIVE_MAX; number += 1) {
    subjects.expect(runOf(number), 'customer')
  }
  const oneMore = runOf(limits.RUNS_LIVE_MAX)
  expect(() => subjects.expect(oneMore, 'customer')).toThrow(
    expect.objectContaining({ code: 'core.limit_exceeded' })
  )
  expect(subjects.of(runOf(0))).toBe(id)
  begin(runOf(0))
  subjects.expect(oneMore, 'customer')
  expect([subjects.of(runOf(1)), subjects.of(oneMore)]).toEqual([id, id])
  expect(asked).toEqual([])
})
