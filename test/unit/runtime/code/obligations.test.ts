import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import type { DeclaredConfirm } from '../../../../src/code/obligation.js'
import type { JsonObject } from '../../../../src/core/index.js'
import {
  createRuntime,
  MEMORY_LOCATION,
  type Registrations,
  type WiredRuntime
} from '../../../../src/runtime/index.js'
import { answer } from '../../../support/answers.js'
import { approvers, documentOf, payBlock, twoOfThree } from '../../../support/approvers.js'
import { isLong } from '../../../support/effort.js'
import {
  type Asked,
  classes,
  grantsFor,
  type Road,
  roads,
  roadsOf
} from '../../../support/roads.js'

/** K14: obligations belong to what is done; no road leads around them. */

interface Opened {
  readonly tally: WiredRuntime
  readonly done: string[]
}

async function opened(
  obligations: Registrations['obligations'],
  use: (opened: Opened) => Promise<void>,
  more: Registrations = {}
): Promise<void> {
  const done: string[] = []
  const registrations = roadsOf((effect) => done.push(effect))
  const tally = await createRuntime({
    location: MEMORY_LOCATION,
    create: 'if-absent',
    ...registrations,
    ...more,
    blocks: [...(registrations.blocks ?? []), ...(more.blocks ?? [])],
    ...(obligations === undefined ? {} : { obligations })
  })
  try {
    await use({ tally, done })
  } finally {
    await tally.close()
  }
}

const { signal } = new AbortController()

/** Goes a road until it ends or waits. */
async function go(tally: WiredRuntime, asked: Asked, id: string, agent?: string): Promise<void> {
  const by = agent === undefined ? {} : { agent }
  if ('intent' in asked) {
    await tally.service({ method: 'intent', params: { ...asked.intent, ...by, id }, signal })
    return
  }
  const { document, isPublished } = asked
  const what = isPublished ? { published: 'road' } : { document: JSON.stringify(document) }
  const params = { ...what, id, ...by }
  for await (const _ of tally.service({ method: 'run', params, signal }) as AsyncIterable<unknown>);
}

/** Answers what a run waits for until it ends; gives its status and how often it has asked. */
async function answered(tally: WiredRuntime, id: string, action: 'approve' | 'deny') {
  const run = await tally.attach(id)
  let asked = 0
  while ((await run.waits()).length > 0) {
    const { reason } = await answer(tally, id, action)
    expect(reason).toBe('confirmation')
    asked += 1
  }
  const { status } = await run.result
  return { status, asked }
}

type Kind = 'blocks' | 'effects'

/** What is to be asked about on a road: the block that acts, or the effect. */
function obligationFor(
  road: Road,
  sideEffects: (typeof classes)[number],
  kind: Kind,
  confirm: DeclaredConfirm = { message: 'Act?' }
) {
  const words = grantsFor(road, sideEffects).at(-1) ?? ['']
  const isTool = words[0] === 'agent.turn'
  if (isTool) return { effects: { 'agent.tool.act': { confirm } } }
  const isOfWorkflow = words[0].startsWith('ais.')
  const name = kind === 'blocks' || isOfWorkflow ? words[0] : 'act'
  const named = { [name]: { confirm } }
  return kind === 'blocks' || isOfWorkflow ? { blocks: named } : { effects: named }
}

async function published(tally: WiredRuntime, asked: Asked): Promise<void> {
  if (!('isPublished' in asked)) return
  const payload = { document: asked.document, name: 'road' }
  expect(await tally.intent({ action: 'system.publish', payload })).toMatchObject({ type: 'dapp' })
}

const kinds = ['blocks', 'effects'] as const
const cells = roads.flatMap((road, place) =>
  (isLong ? classes : (['non_idempotent'] as const)).flatMap((sideEffects) =>
    kinds
      .filter((_, kind) => isLong || kind === place % kinds.length)
      .map((kind) => ({ road, sideEffects, kind, name: road.name }))
  )
)

describe('an obligation to ask approvers', () => {
  it.each(cells)(
    'K14: holds on the road of $name: $sideEffects, of $kind',
    async ({ road, sideEffects, kind }) => {
      const asked = road.asked(sideEffects)
      const obligation = obligationFor(road, sideEffects, kind, { approvers: twoOfThree })
      await opened(obligation, async ({ tally, done }) => {
        await published(tally, asked)
        await go(tally, asked, 'signed')
        const run = await tally.attach('signed')
        let approved = 0
        for (let waits = await run.waits(); waits.length > 0; waits = await run.waits()) {
          const [{ token, digest, approvers } = never()] = waits
          if (approvers !== undefined) {
            expect(approvers.threshold).toBe(2)
            const unsigned = { accepted: false, reason: 'signature_missing' }
            expect(await run.approve(token, { digest, by: 'Ada' })).toEqual(unsigned)
            expect(await run.deny(token, { digest })).toEqual(unsigned)
            expect(done).toEqual([])
            approved += 1
          }
          await answer(tally, 'signed', 'approve')
        }
        await run.result
        expect(approved).toBe(1)
        expect(done).toContain(road.done?.[0] ?? 'act')
        expect(await tally.replay()).toMatchObject({ ok: true })
      })
    }
  )

  it('K14: of two lists the stricter holds, and none may take away from the other', async () => {
    const { ada, ben, cay, eve } = approvers
    const lists: readonly (readonly [DeclaredConfirm['approvers'], string])[] = [
      [undefined, 'the block'],
      [{ threshold: 1, keys: [ada.key, ben.key, cay.key] }, 'the block'],
      [{ threshold: 2, keys: [ada.key, ben.key, cay.key, eve.key] }, 'the block'],
      [{ threshold: 3, keys: [ada.key, ben.key, cay.key] }, 'the document'],
      [{ threshold: 2, keys: [ada.key, ben.key] }, 'the document'],
      [{ threshold: 1, keys: [eve.key] }, 'neither'],
      [{ threshold: 1, keys: [ada.key] }, 'neither'],
      [{ threshold: 3, keys: [ada.key, ben.key, eve.key] }, 'neither']
    ]
    const obligations = { blocks: { pay: { confirm: { approvers: twoOfThree } } } }
    for (const [given, holds] of lists) {
      const tally = await createRuntime({
        location: MEMORY_LOCATION,
        create: 'if-absent',
        blocks: [payBlock],
        obligations
      })
      const confirm = given === undefined ? true : { approvers: given as unknown as JsonObject }
      const run = tally.begin(documentOf({ block: 'pay', confirm }), { id: 'run' })
      if (holds === 'neither') {
        const { response } = await run.result
        expect(JSON.stringify(response)).toContain('neither list is the stricter')
      } else {
        for await (const event of run) if (event.type === 'run.parked') break
        const expected = holds === 'the block' ? twoOfThree : given
        const keys = [...(expected?.keys ?? [])].sort()
        expect((await run.waits())[0]?.approvers).toEqual({ ...expected, keys })
        await answer(tally, 'run', 'approve')
        expect((await run.result).status).toBe('done')
      }
      await tally.close()
    }
  })

  it('K14: a list that holds for nothing is refused when the runtime opens', async () => {
    const keys = [approvers.ada.key]
    for (const list of [
      { threshold: 2, keys },
      { threshold: 1, keys: ['a'] }
    ]) {
      const obligations = { blocks: { pay: { confirm: { approvers: list } } } }
      const opening = createRuntime({ location: MEMORY_LOCATION, blocks: [payBlock], obligations })
      await expect(opening).rejects.toMatchObject({ code: 'runtime.invalid_obligation' })
    }
    const declared = defineBlock({
      name: 'pay',
      version: '2.0.0',
      sideEffects: 'none',
      confirm: { approvers: { threshold: 1, keys: [approvers.eve.key] } },
      run: () => null
    })
    const obligations = { blocks: { pay: { confirm: { approvers: twoOfThree } } } }
    const opening = createRuntime({ location: MEMORY_LOCATION, blocks: [declared], obligations })
    await expect(opening).rejects.toMatchObject({ code: 'runtime.invalid_obligation' })
  })
})

function never(): never {
  throw new Error('it waits for nothing')
}

describe('an obligation to ask a person', () => {
  it.each(cells)(
    'K14: holds on the road of $name: $sideEffects, of $kind',
    async ({ road, sideEffects, kind }) => {
      const { done: expected = ['act'] } = road
      const asked = road.asked(sideEffects)
      const undone = sideEffects === 'none' ? expected.filter((one) => one !== 'undo') : expected
      let plain = ''
      await opened(undefined, async ({ tally }) => {
        await published(tally, asked)
        await go(tally, asked, 'plain')
        plain = (await (await tally.attach('plain')).result).status
      })
      await opened(obligationFor(road, sideEffects, kind), async ({ tally, done }) => {
        await published(tally, asked)
        for (const words of grantsFor(road, sideEffects)) {
          const [subject, ...capabilities] = words
          const named = capabilities.length === 0 ? {} : { capabilities }
          const payload = { principal: { kind: 'agent', id: 'worker' }, subject, ...named }
          await tally.intent({ action: 'system.grant', payload: payload as JsonObject })
        }
        for (const agent of [undefined, 'worker']) {
          const name = agent ?? 'owner'
          await go(tally, asked, `${name}-denied`, agent)
          expect(done).toEqual([])
          expect(await answered(tally, `${name}-denied`, 'deny')).toMatchObject({ asked: 1 })
          expect(done).toEqual([])

          await go(tally, asked, `${name}-approved`, agent)
          expect(done).toEqual([])
          expect(await answered(tally, `${name}-approved`, 'approve')).toEqual({
            status: plain,
            asked: 1
          })
          expect(done).toEqual(undone)
          done.length = 0
        }
        expect(await tally.replay()).toMatchObject({ ok: true })
      })
    }
  )
})
