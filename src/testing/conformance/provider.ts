import { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
import type { Provider } from '../../block/index.js'
import {
  type EffectCall,
  EffectFailure,
  type Located,
  type SideEffectClass
} from '../../code/index.js'
import { canonicalizeLedgerValue, type Json } from '../../core/index.js'
import { type ConformanceCheck, type Opened, runCheck } from './check.js'

/** One check of {@link providerConformance}. */
export type ProviderCheck = ConformanceCheck<() => Promise<ProviderUnderTest>>

/**
 * What may become of a request: it never arrives, it arrives later, it is done and its answer is
 * lost.
 */
export type ProviderTrouble = 'request_lost' | 'request_late' | 'answer_lost'

/** A provider in front of a world of its own, and hands to trouble that world with. */
export interface ProviderUnderTest {
  readonly provider: Provider
  /** The provider in front of the same world, as the next process has it. */
  restart(): Promise<Provider>
  /** What the blocks that ask for it declare. */
  readonly sideEffects: SideEffectClass
  /** What the world tells two requests apart by. Default: the idempotency key. */
  readonly tellsApartBy?: 'key' | 'request'
  /** What it is asked; another number is other work. */
  request(number: number): Json | Promise<Json>
  /** What the world refuses; leave it out where it refuses nothing. */
  refused?(): Json | Promise<Json>
  /** How many things the world has done, each repetition counted; of reads none. */
  effects(): Promise<number>
  /** Troubles the next request; leave it out where that cannot be played. */
  trouble?(trouble: ProviderTrouble): Promise<void>
  /** Lets the request arrive that is late. */
  arrive?(): Promise<void>
  close(): Promise<void>
}

/**
 * The suite that a provider of effects passes. Run each check under the test runner of your choice:
 * `for (const check of providerConformance) it(check.name, () => check.run(open))`.
 */
export const providerConformance: readonly ProviderCheck[] = [
  check('answers with a plain value of the ledger, and does what it is asked', answers),
  check('does each of several requests', doesEach),
  check('does a request again under another key', doesAgain),
  check('L7: a key of an idempotent effect takes effect once, however often it is sent', sendsOnce),
  check('L7: a key that is sent twice at once takes effect once', sendsAtOnce),
  check('L7: a key that the next process sends takes effect once', sendsAfterCrash),
  check('locate finds what was done, and does nothing', locates),
  check('locate finds what an earlier process has done', locatesAfterCrash),
  check('locate finds nothing under a key that was not sent', locatesNothing),
  check('an answer that is lost is not a definite failure, and is found', losesAnswer),
  check('a request that is lost is not found, and can be sent again', losesRequest),
  check('what may still arrive is not said to be definitely absent', arrivesLate),
  check('a refusal is definite, and nothing is done', refuses),
  check('a call that was called off fails definitely only where nothing is done', calledOff),
  check('recovering from no runs changes nothing', recovers)
]

/** What a check works with. */
interface Test extends ProviderUnderTest {
  call(key: string, request: Json, signal?: AbortSignal): EffectCall
  /** How many things are done for one request. */
  readonly one: 0 | 1
}

function check(name: string, act: (test: Test) => Promise<void>): ProviderCheck {
  return {
    name,
    run: (open, options = {}) =>
      runCheck(name, options, async (opened) => act(await testOf(open, opened)))
  }
}

async function testOf(open: () => Promise<ProviderUnderTest>, opened: Opened): Promise<Test> {
  const test = await open()
  opened.onEnd(() => test.close())
  const ending = new AbortController()
  opened.onEnd(() => ending.abort())
  return {
    ...test,
    call: (key, request, signal = ending.signal) => ({
      // A key of the kernel is a hash.
      key: Buffer.from(key.padEnd(32, '.')).toString('hex'),
      request,
      signal
    }),
    one: test.sideEffects === 'none' ? 0 : 1
  }
}

type Outcome = { readonly done: Json } | { readonly failed: unknown; readonly definite: boolean }

async function outcomeOf(provider: Provider, call: EffectCall): Promise<Outcome> {
  let answer: Json
  try {
    answer = await provider.perform(call)
  } catch (failed) {
    return { failed, definite: failed instanceof EffectFailure && failed.definite }
  }
  return { done: plain(answer) }
}

async function done(provider: Provider, call: EffectCall): Promise<Json> {
  const outcome = await outcomeOf(provider, call)
  if ('failed' in outcome) throw outcome.failed
  return outcome.done
}

/** Asks where it can be asked. */
async function located(provider: Provider, call: EffectCall): Promise<Located<Json> | undefined> {
  return provider.locate?.(call)
}

function plain(value: Json | undefined): Json {
  const given = value === undefined ? null : value
  const text = canonicalizeLedgerValue(given)
  deepEqual(JSON.parse(text), given)
  return given
}

async function answers({ provider, call, request, effects, one }: Test): Promise<void> {
  await done(provider, call('first', await request(1)))
  equal(await effects(), one)
}

async function doesEach({ provider, call, request, effects, one }: Test): Promise<void> {
  for (const number of [1, 2, 3]) await done(provider, call(`${number}`, await request(number)))
  equal(await effects(), 3 * one)
}

async function doesAgain({ provider, call, request, effects, one, ...test }: Test): Promise<void> {
  const asked = await request(1)
  await done(provider, call('first', asked))
  await done(provider, call('second', asked))
  equal(await effects(), test.tellsApartBy === 'request' ? one : 2 * one)
}

async function sendsOnce({ provider, call, request, effects, ...test }: Test): Promise<void> {
  if (test.sideEffects !== 'idempotent') return
  const asked = call('first', await request(1))
  for (let times = 0; times < 3; times += 1) await done(provider, asked)
  equal(await effects(), 1)
}

async function sendsAtOnce({ provider, call, request, effects, ...test }: Test): Promise<void> {
  if (test.sideEffects !== 'idempotent') return
  const asked = call('first', await request(1))
  const outcomes = await Promise.all([outcomeOf(provider, asked), outcomeOf(provider, asked)])
  ok(
    outcomes.some((outcome) => 'done' in outcome),
    'one of the two is answered'
  )
  equal(await effects(), 1)
}

async function sendsAfterCrash(test: Test): Promise<void> {
  const { provider, call, request, restart, effects } = test
  if (test.sideEffects !== 'idempotent') return
  const asked = call('first', await request(1))
  await done(provider, asked)
  await done(await restart(), asked)
  equal(await effects(), 1)
}

async function locates({ provider, call, request, effects, one }: Test): Promise<void> {
  if (provider.locate === undefined) return
  const asked = call('first', await request(1))
  await done(provider, asked)
  const found = await located(provider, asked)
  ok(found?.found === true, 'it is found')
  plain(found.result)
  equal(await effects(), one)
}

async function locatesAfterCrash(test: Test): Promise<void> {
  const { provider, call, request, restart, effects, one } = test
  if (provider.locate === undefined) return
  const asked = call('first', await request(1))
  await done(provider, asked)
  const later = await restart()
  equal((await located(later, asked))?.found, true)
  equal(await effects(), one)
}

async function locatesNothing({ provider, call, request, effects, one }: Test): Promise<void> {
  if (provider.locate === undefined) return
  await done(provider, call('second', await request(2)))
  const asked = call('first', await request(1))
  equal((await located(provider, asked))?.found, false)
  equal(await effects(), one)
}

async function losesAnswer(test: Test): Promise<void> {
  const { provider, call, request, effects, one, trouble, restart } = test
  if (trouble === undefined) return
  const asked = call('first', await request(1))
  await trouble('answer_lost')
  const outcome = await outcomeOf(provider, asked)
  equal(await effects(), one)
  // A provider that asks again by the key has its answer.
  if ('failed' in outcome && one === 1) equal(outcome.definite, false)
  for (const asker of [provider, await restart()]) {
    if (asker.locate !== undefined) equal((await located(asker, asked))?.found, true)
  }
  if (test.sideEffects === 'idempotent') await done(provider, asked)
  equal(await effects(), one)
}

async function losesRequest(test: Test): Promise<void> {
  const { provider, call, request, effects, one, trouble } = test
  if (trouble === undefined) return
  const asked = call('first', await request(1))
  await trouble('request_lost')
  const outcome = await outcomeOf(provider, asked)
  if ('failed' in outcome) {
    equal(await effects(), 0)
    notEqual((await located(provider, asked))?.found, true)
    await done(provider, asked)
  }
  equal(await effects(), one)
}

async function arrivesLate(test: Test): Promise<void> {
  const { provider, call, request, effects, trouble, arrive } = test
  if (trouble === undefined || arrive === undefined || test.sideEffects === 'none') return
  const asked = call('first', await request(1))
  await trouble('request_late')
  const outcome = await outcomeOf(provider, asked)
  const before = await located(provider, asked)
  const isSaidAbsent = before?.found === false && before.definite
  await arrive()
  const arrived = await effects()
  ok(arrived <= 1, 'it takes effect once')
  if ('failed' in outcome && outcome.definite) equal(arrived, 0)
  if (isSaidAbsent) equal(arrived, 0)
  if (arrived === 1 && provider.locate !== undefined) {
    equal((await located(provider, asked))?.found, true)
  }
}

async function refuses({ provider, call, refused, effects }: Test): Promise<void> {
  if (refused === undefined) return
  const outcome = await outcomeOf(provider, call('first', await refused()))
  ok('failed' in outcome, 'it is refused')
  equal(outcome.definite, true)
  equal(await effects(), 0)
}

async function calledOff({ provider, call, request, effects }: Test): Promise<void> {
  const before = AbortSignal.abort()
  const first = await outcomeOf(provider, call('first', await request(1), before))
  if ('failed' in first && first.definite) equal(await effects(), 0)
  const during = new AbortController()
  const already = await effects()
  const second = outcomeOf(provider, call('second', await request(2), during.signal))
  during.abort()
  const outcome = await second
  if ('failed' in outcome && outcome.definite) equal(await effects(), already)
}

async function recovers({ provider, effects }: Test): Promise<void> {
  await provider.recover?.(noRuns())
  equal(await effects(), 0)
}

async function* noRuns(): AsyncGenerator<never> {
  // An earlier process has left none.
}
