import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { OpenWait } from '../../src/block/index.js'
import { defineBlock, EffectFailure } from '../../src/code/index.js'
import {
  canonicalize,
  type Hash,
  isJsonObject,
  type Json,
  type JsonObject,
  ManualClock,
  sha256Hex
} from '../../src/core/index.js'
import { type KeySignature, type SignedAnswer, signApproval } from '../../src/identity/index.js'
import type { JournalItem } from '../../src/ledger/index.js'
import { createRuntime, MEMORY_LOCATION, type RunHandle } from '../../src/runtime/index.js'
import {
  type ApproverName,
  approvers,
  askApprovers,
  documentOf,
  payBlock,
  signed,
  twoOfThree
} from '../support/approvers.js'
import { cases } from '../support/effort.js'
import { forgedLedger, type HonestScene, honestLedger, verifyForged } from '../support/forge.js'
import { smallOrderEncodings } from '../support/hostile-signatures.js'

const blocks = [askApprovers('confirmation'), payBlock]
const doubtful = defineBlock({
  name: 'doubtful',
  version: '1.0.0',
  sideEffects: 'non_idempotent',
  run: (ctx) =>
    ctx.effect('post', {
      request: 'a letter',
      perform: () => {
        throw new EffectFailure('lost')
      }
    })
})
const failing = defineBlock({
  name: 'failing',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => ctx.fail('no_luck')
})
const confirmed = documentOf({ block: 'pay', confirm: { approvers: twoOfThree } })
const waiting = documentOf({ block: 'ask.confirmation' })

const name = fc.constantFrom<ApproverName>('ada', 'ben', 'cay')
const hash = fc.stringMatching(/^[0-9a-f]{64}$/)

/** What an approver may have signed for something else, and is given as an approval. */
const another: fc.Arbitrary<Partial<SignedAnswer>> = fc.oneof(
  fc.record({ action: fc.constantFrom('deny', 'resume', 'approved', '') }),
  fc.record({ value: fc.jsonValue().map((value) => ({ value }) as Json) }),
  fc.record({ token: hash.map((text) => text.slice(0, 32)) }),
  fc.record({ digest: hash })
)

/** Approvals of a wait that count for nothing, and why they are refused. */
const forgery: fc.Arbitrary<(wait: OpenWait) => readonly [KeySignature, string]> = fc.oneof(
  fc.tuple(name, another).map(([by, other]) => (wait: OpenWait) => {
    const { digest, token } = wait
    const answer = { digest, token, action: 'approve', value: null, ...other }
    return [signApproval(answer, approvers[by].seed), 'signature_invalid'] as const
  }),
  fc.constant((wait: OpenWait) => [signed(wait, 'eve'), 'not_an_approver'] as const),
  // Eve signs, and says that it was another.
  name.map((by) => (wait: OpenWait) => {
    return [{ ...signed(wait, 'eve'), key: approvers[by].key }, 'signature_invalid'] as const
  }),
  fc
    .tuple(name, name)
    .filter(([one, other]) => one !== other)
    .map(([by, other]) => {
      return (wait: OpenWait) =>
        [{ ...signed(wait, by), key: approvers[other].key }, 'signature_invalid'] as const
    }),
  fc.tuple(name, fc.nat(127), fc.integer({ min: 1, max: 15 })).map(([by, at, by16]) => {
    return (wait: OpenWait) => {
      const { key, signature } = signed(wait, by)
      const digit = (Number.parseInt(signature[at] ?? '0', 16) + by16) % 16
      const other = `${signature.slice(0, at)}${digit.toString(16)}${signature.slice(at + 1)}`
      return [{ key, signature: other }, 'signature_invalid'] as const
    }
  }),
  // A key of small order fits every message; none can be named as an approver.
  fc.constantFrom(...smallOrderEncodings).map((key) => () => {
    return [{ key, signature: key + '0'.repeat(64) }, 'not_an_approver'] as const
  }),
  name.map((by) => (wait: OpenWait) => {
    const { key, signature } = signed(wait, by)
    return [{ key: key.toUpperCase(), signature }, 'not_an_approver'] as const
  }),
  name.map((by) => (wait: OpenWait) => {
    const { key, signature } = signed(wait, by)
    return [{ key, signature: `${signature}00` }, 'signature_invalid'] as const
  })
)

async function parked(document: Json) {
  const tally = await createRuntime({
    location: MEMORY_LOCATION,
    create: 'if-absent',
    blocks,
    clock: new ManualClock()
  })
  const run = tally.begin(document, { id: 'run' })
  for await (const event of run) if (event.type === 'run.parked') break
  const [wait] = await run.waits()
  if (wait === undefined) throw new Error('the run waits for nothing')
  const length = async () => {
    let entries = 0
    for await (const { text } of tally.journal('run')) entries += text === '' ? 0 : 1
    return entries
  }
  return { tally, run, wait, length }
}

describe('a forged approval', () => {
  it('K13: is refused and changes nothing, whatever is wrong with it', async () => {
    const { tally, run, wait, length } = await parked(confirmed)
    const { digest, token } = wait
    await run.approve(token, { digest, approval: signed(wait, 'ada') })
    const before = await length()
    await fc.assert(
      fc.asyncProperty(forgery, async (forge) => {
        const [approval, reason] = forge(wait)
        expect(await run.approve(token, { digest, approval })).toEqual({ accepted: false, reason })
      }),
      { numRuns: cases({ usual: 80, long: 1100 }) }
    )
    // A run that is parked is not resumed for it.
    expect(await length()).toBe(before)
    await run.approve(token, { digest, approval: signed(wait, 'ben') })
    expect((await run.result).status).toBe('done')
    await tally.close()
  })

  it('K13: a denial that was signed is no approval, and an approval no denial', async () => {
    const { tally, run, wait } = await parked(waiting)
    const { digest, token } = wait
    const denial = signed(wait, 'ada', { action: 'deny' })
    const invalid = { accepted: false, reason: 'signature_invalid' }
    expect(await run.approve(token, { digest, approval: denial })).toEqual(invalid)
    const approval = signed(wait, 'ada')
    expect(await run.deny(token, { digest, approval })).toEqual(invalid)
    await run.cancel()
    await run.result
    await tally.close()
  })

  it('K13: of a question that is asked again is not taken for the new one', async () => {
    const first = await parked(waiting)
    const stale = signed(first.wait, 'ada')
    await first.run.cancel()
    await first.tally.close()
    const tally = await createRuntime({
      location: MEMORY_LOCATION,
      create: 'if-absent',
      blocks,
      clock: new ManualClock()
    })
    const run = tally.begin(waiting, { id: 'another' })
    for await (const event of run) if (event.type === 'run.parked') break
    const [wait] = await run.waits()
    const { digest = '', token = '' } = wait ?? {}
    const refused = { accepted: false, reason: 'signature_invalid' }
    expect(await run.approve(token, { digest, approval: stale })).toEqual(refused)
    const { token: old, digest: shown } = first.wait
    const unknown = { accepted: false, reason: 'unknown_token' }
    expect(await run.approve(old, { digest: shown, approval: stale })).toEqual(unknown)
    await run.cancel()
    await tally.close()
  })
})

/** Ada and Cay approve, after Ben has changed his mind about a value. */
async function approve(run: RunHandle, wait: OpenWait): Promise<void> {
  const { digest, token } = wait
  const give = (by: ApproverName, value: Json) =>
    run.approve(token, { digest, value, approval: signed(wait, by, { value }) })
  await give('ben', 'no comment')
  await give('ada', null)
  await give('cay', null)
}

async function deny(run: RunHandle, wait: OpenWait): Promise<void> {
  const { digest, token } = wait
  await run.approve(token, { digest, approval: signed(wait, 'ben') })
  await run.deny(token, { digest, approval: signed(wait, 'cay', { action: 'deny' }) })
}

/** Ada decides, though no signature is needed. */
const decide = (action: 'resume' | 'skip') => async (run: RunHandle, wait: OpenWait) => {
  const { digest, token } = wait
  const value = action === 'resume' ? { posted: true } : null
  await run.resume(token, {
    digest,
    action,
    value,
    approval: signed(wait, 'ada', { action, value })
  })
}

const code = { blocks: [...blocks, doubtful, failing] }
const scenes: Readonly<Record<string, HonestScene>> = {
  'a confirmation that was approved': { code, document: confirmed, answer: approve },
  'a confirmation that was denied': { code, document: confirmed, answer: deny },
  'a wait that was approved': { code, document: waiting, answer: approve },
  'a wait that was denied': { code, document: waiting, answer: deny },
  'an unknown outcome that was decided about': {
    code,
    document: documentOf({ block: 'doubtful' }),
    answer: decide('resume')
  },
  'a failure that was decided about': {
    code,
    document: documentOf({ block: 'failing', on_error: 'ask' }),
    answer: decide('skip')
  }
}

/** Forgeries of a list of approvals, by who holds the ledger's key. */
const forgedLists: Readonly<Record<string, (list: JsonObject[]) => Json>> = {
  'without signatures': () => [],
  'with one too few': (list) => list.slice(1),
  'with one twice': (list) => [...list.slice(-1), ...list],
  'by a key in no list': (list) => list.map((one) => ({ ...one, key: approvers.eve.key })),
  'signed by Eve': (list) =>
    list.map((one) => ({ ...one, ...eveSigns(one), key: approvers.eve.key })),
  'signed by Eve for another': (list) =>
    list.map((one) => ({ ...one, signature: eveSigns(one).signature })),
  'for another action': (list) => list.map((one) => ({ ...one, action: 'resume' })),
  'for another value': (list) => list.map((one) => ({ ...one, value: 'more' })),
  'for another token': (list) => list.map((one) => ({ ...one, token: '0'.repeat(32) })),
  'for another digest': (list) => list.map((one) => ({ ...one, digest: '0'.repeat(64) })),
  'of another form': (list) => list.map((one) => ({ ...one, more: true })),
  'as a list of nothing': () => [null],
  'as nothing': () => null
}

function eveSigns({ digest, token, action, value = null }: JsonObject): KeySignature {
  const said = { digest: String(digest), token: String(token), action: String(action), value }
  return signApproval(said, approvers.eve.seed)
}

/** Alters each list of approvals, and single ones, and mends the hash of what was sealed. */
function altered(items: readonly JournalItem[], forge: (list: JsonObject[]) => Json) {
  return items.map((item) => {
    const entries = item.entries.map((text) => {
      const entry = walk(JSON.parse(text) as Json, forge) as JsonObject
      const { salt, body } = entry
      if (entry['k'] !== 'sealed') return canonicalize(entry)
      return canonicalize({ ...entry, responseHash: sha256Hex(canonicalize({ body, salt })) })
    })
    return { ...item, entries }
  })
}

function walk(value: Json, forge: (list: JsonObject[]) => Json): Json {
  if (Array.isArray(value)) return value.map((one) => walk(one, forge))
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).map(([key, member]) => {
    if (key === 'approvals') return [key, forge(member as JsonObject[])] as const
    if (key !== 'approval') return [key, walk(member, forge)] as const
    const list = forge([member as JsonObject])
    return [key, Array.isArray(list) ? (list[0] ?? null) : null] as const
  })
  return Object.fromEntries(members)
}

/** The receipts that name what was sealed name the forged result. */
function named(items: readonly JournalItem[]): readonly JournalItem[] {
  const hashes = new Map<unknown, Hash>()
  for (const { entries } of items) {
    for (const text of entries) {
      const { k, seq, responseHash } = JSON.parse(text) as JsonObject
      if (k === 'sealed') hashes.set(seq, responseHash as Hash)
    }
  }
  return items.map((item) => {
    const { unit } = item
    if (unit === undefined) return item
    const sealed = unit.sealed.map((one) => ({
      ...one,
      responseHash: hashes.get(one.seq) ?? one.responseHash
    }))
    return { ...item, unit: { ...unit, sealed } }
  })
}

describe.each(Object.entries(scenes))('%s', (_, scene) => {
  it('K13: verifies, by its bytes and done again', async () => {
    const { store } = await honestLedger(scene)
    for (const again of [false, true]) {
      expect((await verifyForged(store, again, code)).failure).toBeUndefined()
    }
  })

  const hasApprovers = scene.answer === approve || scene.answer === deny
  // Without a list any key may sign, and some waits are answered with resume.
  const fitting = Object.entries(forgedLists).filter(
    ([how]) => hasApprovers || !['signed by Eve', 'for another action'].includes(how)
  )

  it.each(fitting)('K13: is found %s, by its bytes and done again', async (_how, forge) => {
    const { items } = await honestLedger(scene)
    const forged = named(altered(items, forge))
    const store = await forgedLedger(forged)
    for (const again of [false, true]) {
      const { failure } = await verifyForged(store, again, code)
      expect(failure?.field).toMatch(/^journal\.(by\.approvals|approval|token|response)/)
    }
  })
})

describe('the holder of the key', () => {
  const isAnswer = (text: string) => text.includes('"effect":"wait"') && text.includes('"sealed"')

  it.each(['a confirmation that was approved', 'a wait that was approved'])(
    'K13: leaves out the answer of %s, which is found',
    async (name) => {
      const scene = scenes[name] as HonestScene
      const { items } = await honestLedger(scene)
      const kept = items.filter(({ entries }) => !entries.some(isAnswer))
      expect(kept.length).toBe(items.length - 1)
      const numbered = kept.map((item, n) => ({
        ...item,
        entries: item.entries.map((text) => canonicalize({ ...JSON.parse(text), n }))
      }))
      const { failure } = await verifyForged(await forgedLedger(numbered), true, code)
      expect(failure).toBeDefined()
    }
  )

  it('K13: gives an unknown outcome another result than was signed, which is found', async () => {
    const { items } = await honestLedger(scenes['an unknown outcome that was decided about'])
    const forged = items.map((item) => {
      const entries = item.entries.map((text) => {
        const entry = JSON.parse(text) as JsonObject
        if (entry['k'] !== 'sealed') return text
        const body = { posted: false }
        const salted = canonicalize({ body, salt: entry['salt'] ?? null })
        return canonicalize({ ...entry, body, responseHash: sha256Hex(salted) })
      })
      return { ...item, entries }
    })
    const store = await forgedLedger(named(forged))
    for (const again of [false, true]) {
      const { failure } = await verifyForged(store, again, code)
      expect(failure?.field).toBe('journal.body')
    }
  })
})
