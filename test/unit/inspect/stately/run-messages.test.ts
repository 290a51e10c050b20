import { describe, expect, it } from 'vitest'
import { createMachine } from 'xstate'
import { isJsonObject, type Json } from '../../../../src/core/index.js'
import type { InspectionMessage } from '../../../../src/inspect/index.js'
import { journalNamed, messagesOf } from '../../../support/inspected.js'
import { journalScenes } from '../../../support/journal-scenes.js'

const names = Object.keys(journalScenes)

/** Values of members that hold what callers and blocks gave, wherever they stand. */
function payloadsIn(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value.flatMap(payloadsIn)
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const isPayload = /^(context|data|details|input|metadata|output|patch|payload|request)$/.test(
      name
    )
    return isPayload ? [member] : payloadsIn(member)
  })
}

function eventIn(message: InspectionMessage): string {
  return message.type === '@xstate.actor' ? '' : message.event.type
}

describe('the messages of a recorded run', () => {
  it.each(names)(
    'N1: show each actor before anything else of it, and its parent first: %s',
    async (name) => {
      const shown = new Set<string>()
      const { run } = JSON.parse(journalNamed(name).entries[0] ?? '{}')
      for (const message of (await messagesOf(name, { payloads: false })).flat()) {
        const { sessionId, rootId } = message
        expect(rootId).toBe(`${run}/root`)
        if (message.type === '@xstate.actor') {
          const { parentId } = message
          expect(shown.has(sessionId)).toBe(false)
          expect(parentId === undefined ? sessionId === rootId : shown.has(parentId)).toBe(true)
          shown.add(sessionId)
        }
        expect(shown.has(sessionId), `${message.type} of ${sessionId}`).toBe(true)
      }
      expect(shown.size).toBeGreaterThan(0)
    }
  )

  it.each(names)(
    'have charts that XState takes, and states that those charts have: %s',
    async (name) => {
      const machines = new Map<string, ReturnType<typeof createMachine>>()
      let states = 0
      for (const message of (await messagesOf(name, { payloads: true })).flat()) {
        if (message.type === '@xstate.actor') {
          machines.set(message.sessionId, createMachine(JSON.parse(message.definition)))
        }
        if (message.type === '@xstate.event') continue
        const value = message.snapshot['value'] as string
        const machine = machines.get(message.sessionId)
        expect(machine?.resolveState({ value, context: {} }).value).toEqual(value)
        states += 1
      }
      expect(states).toBeGreaterThan(0)
    }
  )

  it.each(names)(
    'say what changed only after what changed it, with the time of its entry: %s',
    async (name) => {
      const { entries } = journalNamed(name)
      const last = new Map<string, string>()
      for (const [n, messages] of (await messagesOf(name, { payloads: false })).entries()) {
        const { at, k } = JSON.parse(entries[n] ?? '{}')
        for (const message of messages) {
          expect(message.createdAt).toBe(String(at))
          if (message.type === '@xstate.event') last.set(message.sessionId, message.event.type)
          if (message.type !== '@xstate.snapshot' || k === 'run.finished') continue
          expect(message.event.type).toBe(last.get(message.sessionId))
        }
      }
    }
  )

  it.each(names)('end with how the run has ended, said of its root: %s', async (name) => {
    const { entries } = journalNamed(name)
    const { k, status } = JSON.parse(entries.at(-1) ?? '{}')
    const [last] = (await messagesOf(name, { payloads: false })).flat().slice(-1)
    const ended = last?.type === '@xstate.snapshot' ? last.snapshot.status : undefined
    if (k === 'run.finished') expect(ended).toBe(status === 'done' ? 'done' : 'error')
    else expect(ended ?? 'active').toBe('active')
  })

  it.each(names)('N3: hold the size of each payload in its place: %s', async (name) => {
    const messages = (await messagesOf(name, { payloads: false })).flat() as unknown as Json
    const payloads = payloadsIn(messages)
    expect(payloads.length).toBeGreaterThan(0)
    for (const payload of payloads) expect(payload).toEqual({ $redacted: expect.any(Number) })
  })

  it('show payloads where they are asked for', async () => {
    const payloads = payloadsIn(
      (await messagesOf('nested', { payloads: true })).flat() as unknown as Json
    )
    expect(payloads.some((one) => isJsonObject(one) && '$redacted' in one)).toBe(false)
  })

  it('N2: are the same whenever they are made', async () => {
    for (const name of names) {
      const [one, other] = await Promise.all([1, 2].map(() => messagesOf(name, { payloads: true })))
      expect(JSON.stringify(one)).toBe(JSON.stringify(other))
    }
  })

  it('tell which block sent what, and what came from outside the charts', async () => {
    const messages = (await messagesOf('nested', { payloads: false })).flat()
    const received = messages.flatMap((message) => {
      if (message.type !== '@xstate.event') return []
      const { sourceId = 'outside', sessionId } = message
      const [from, to] = [sourceId, sessionId].map((id) => id.replace(/^.*\/root/, 'root'))
      return [`${from} -> ${to} ${eventIn(message)}`]
    })
    expect(received).toMatchInlineSnapshot(`
      [
        "outside -> root block.execute",
        "root -> root/a block.execute",
        "root/a -> root/a/b block.execute",
        "root/a/b -> root/a/b/c block.execute",
        "outside -> root/a/b/c attempt.waiting",
        "root/a/b/c -> root/a/b block.waiting",
        "root/a/b -> root/a block.waiting",
        "root/a -> root block.waiting",
        "outside -> root/a/b/c attempt.resumed",
        "root/a/b/c -> root/a/b block.resumed",
        "root/a/b -> root/a block.resumed",
        "root/a -> root block.resumed",
        "outside -> root/a/b/c attempt.settled",
        "root/a/b/c -> root/a/b block.settled",
        "root/a/b -> root/a/b/d block.execute",
        "outside -> root/a/b/d attempt.waiting",
        "root/a/b/d -> root/a/b block.waiting",
        "root/a/b -> root/a block.waiting",
        "root/a -> root block.waiting",
        "outside -> root/a/b/d attempt.resumed",
        "root/a/b/d -> root/a/b block.resumed",
        "root/a/b -> root/a block.resumed",
        "root/a -> root block.resumed",
        "outside -> root/a/b/d attempt.settled",
        "root/a/b/d -> root/a/b block.settled",
        "root/a/b -> root/a block.settled",
        "root/a -> root/a/e block.execute",
        "outside -> root/a/e attempt.waiting",
        "root/a/e -> root/a block.waiting",
        "root/a -> root block.waiting",
        "outside -> root/a/e attempt.resumed",
        "root/a/e -> root/a block.resumed",
        "root/a -> root block.resumed",
        "outside -> root/a/e attempt.waiting",
        "root/a/e -> root/a block.waiting",
        "root/a -> root block.waiting",
        "outside -> root/a/e attempt.resumed",
        "root/a/e -> root/a block.resumed",
        "root/a -> root block.resumed",
        "outside -> root/a/e attempt.settled",
        "root/a/e -> root/a block.settled",
        "root/a -> root block.settled",
        "root -> root/f block.execute",
        "outside -> root/f attempt.settled",
        "root/f -> root block.settled",
      ]
    `)
  })
})
