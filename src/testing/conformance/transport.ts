import { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
import { nextTurn } from '../../core/index.js'
import { type ConformanceCheck, type Opened, runCheck } from './check.js'
import { type ServerAct, type ServerProtocol, TransportServer } from './transport-server.js'

/** Carries a text to one server, and its answer back. */
export interface Transport {
  /**
   * Sends the text once and waits for the whole answer. Resolves for every end; what the signal
   * calls off ends soon, and lets go of its connection.
   */
  exchange(text: string, options: { readonly signal: AbortSignal }): Promise<Exchanged>
  close?(): Promise<void>
}

/**
 * What came of an exchange. `not_begun`: certainly the server has done nothing. `unknown`: it may
 * have done what it was asked.
 */
export type Exchanged =
  | { readonly kind: 'answered'; readonly text: string }
  | { readonly kind: 'not_begun' }
  | { readonly kind: 'unknown' }

/** One check of {@link transportConformance}. */
export type TransportCheck = ConformanceCheck<TransportDriver>

/** What the suite needs of a transport under test. */
export interface TransportDriver {
  /** A transport to the server at `127.0.0.1` and this port. */
  open(port: number): Promise<Transport>
  /** The server's part of its protocol. `httpProtocol` makes it of bodies. */
  readonly protocol: ServerProtocol
}

/** What the suite's server answers to a text. */
function answerTo(text: string): string {
  return `answer to ${text}`
}

/**
 * The suite that every transport passes, against a server on loopback. Run each check under the
 * test runner of your choice.
 */
export const transportConformance: readonly TransportCheck[] = [
  check('gives the answer to what it has sent, once', answers),
  check('carries texts as they are, in any script and of any length', carriesTexts),
  check('gives each of many exchanges at once its own answer', answersAtOnce),
  check('puts an answer together that comes byte by byte', putsTogether),
  check('says that nothing was begun where no server listens', refused),
  check('claims nothing of a connection that breaks before it was read', brokenAtOnce),
  check('does not know what came of a request that has no answer', brokenBefore),
  check('takes no part of an answer for the answer, where the connection breaks', brokenWithin),
  check('takes no part of an answer for the answer, where it ends early', endedWithin),
  check('takes nothing for an answer that is none', garbage),
  check('lets go of an answer that has no end', endless),
  check('sends nothing again by itself', sendsOnce),
  check('sends nothing that was called off before', calledOffBefore),
  check('lets go of a silent server when it is called off', calledOffSilent),
  check('lets go of an answer that stops when it is called off', calledOffWithin),
  check('is answered again after a connection broke', recovers),
  check('follows no server elsewhere', staysHere)
]

function check(name: string, act: (test: Test) => Promise<void>): TransportCheck {
  return {
    name,
    run: (driver, options = {}) =>
      runCheck(name, options, async (opened) => {
        const server = await serverOf(driver, opened)
        const transport = await driver.open(server.port)
        opened.onEnd(() => transport.close?.())
        const calling = new AbortController()
        // What hangs is let go of before the server is.
        opened.onEnd(() => calling.abort())
        const { signal } = calling
        const exchange = (text: string) => transport.exchange(text, { signal })
        await act({ ...server, driver, opened, calling, exchange })
      })
  }
}

interface Test {
  readonly server: TransportServer
  readonly port: number
  readonly driver: TransportDriver
  readonly opened: Opened
  readonly calling: AbortController
  exchange(text: string): Promise<Exchanged>
}

async function serverOf({ protocol }: TransportDriver, opened: Opened) {
  const server = new TransportServer({
    ...protocol,
    answer: (received, text) => protocol.answer(received, answerTo(text))
  })
  const port = await server.listen()
  opened.onEnd(() => server.close())
  return { server, port }
}

async function answers({ server, exchange }: Test): Promise<void> {
  await answered(exchange, 'one')
  await answered(exchange, 'two')
  deepEqual(server.texts, ['one', 'two'])
}

const LONG = 100_000
const texts = ['"quoted" \\ and\nbroken', 'Grüße, 世界, 🧾', '{"a":[1,null]}', 'x'.repeat(LONG)]

async function carriesTexts({ server, exchange }: Test): Promise<void> {
  for (const text of texts) await answered(exchange, text)
  deepEqual(server.texts, texts)
}

async function answersAtOnce({ exchange }: Test): Promise<void> {
  const asked = Array.from({ length: 8 }, (_, at) => `question ${at}`)
  await Promise.all(asked.map((text) => answered(exchange, text)))
}

async function putsTogether({ server, exchange }: Test): Promise<void> {
  server.act = 'answers byte by byte'
  await answered(exchange, 'Grüße, 世界, 🧾')
}

async function refused({ server, exchange }: Test): Promise<void> {
  await server.deafen()
  equal((await exchange('one')).kind, 'not_begun')
}

/** A transport that greets first can be certain here, others cannot. */
async function brokenAtOnce({ server, exchange }: Test): Promise<void> {
  server.act = 'breaks at once'
  notEqual((await exchange('one')).kind, 'answered')
  deepEqual(server.texts, [])
}

async function brokenBefore(test: Test): Promise<void> {
  await unknownWhen(test, 'breaks before the answer')
}

async function brokenWithin(test: Test): Promise<void> {
  await unknownWhen(test, 'breaks in the answer')
}

async function endedWithin(test: Test): Promise<void> {
  await unknownWhen(test, 'ends in the answer')
}

async function garbage(test: Test): Promise<void> {
  await unknownWhen(test, 'says what is no answer')
}

async function endless(test: Test): Promise<void> {
  await unknownWhen(test, 'answers without an end')
  await test.server.untilLeft()
}

async function sendsOnce({ server, exchange }: Test): Promise<void> {
  for (const act of ['breaks before the answer', 'ends in the answer'] as const) {
    server.act = act
    const before = server.texts.length
    await exchange(act)
    equal(server.texts.length, before + 1, `it is asked once when it ${act}`)
  }
}

async function calledOffBefore({ server, calling, exchange }: Test): Promise<void> {
  calling.abort()
  equal((await exchange('one')).kind, 'not_begun')
  deepEqual(server.texts, [])
}

async function calledOffSilent(test: Test): Promise<void> {
  await calledOff(test, 'says nothing', () => test.server.untilRead(1))
}

/** Turns of the loop in which a client may read what was sent to it. */
const READING_TURNS = 8

async function calledOffWithin(test: Test): Promise<void> {
  await calledOff(test, 'stops in the answer', async () => {
    await test.server.untilStopped()
    for (let turn = 0; turn < READING_TURNS; turn += 1) await nextTurn()
  })
}

async function calledOff(
  { server, calling, exchange }: Test,
  act: ServerAct,
  until: () => Promise<void>
): Promise<void> {
  server.act = act
  const exchanging = exchange('one')
  // One that ends before it is called off has failed.
  await Promise.race([until(), exchanging])
  calling.abort()
  equal((await exchanging).kind, 'unknown')
  await server.untilLeft()
}

async function recovers({ server, exchange }: Test): Promise<void> {
  await answered(exchange, 'one')
  server.act = 'breaks before the answer'
  await exchange('two')
  server.act = 'answers'
  await answered(exchange, 'three')
}

async function staysHere({ server, driver, opened, exchange }: Test): Promise<void> {
  if (driver.protocol.redirect === undefined) return
  const elsewhere = await serverOf(driver, opened)
  server.act = { redirectsTo: `http://127.0.0.1:${elsewhere.port}/` }
  notEqual((await exchange('one')).kind, 'answered')
  equal(elsewhere.server.connections, 0, 'nothing connects to where it points')
}

async function answered(exchange: Test['exchange'], text: string): Promise<void> {
  deepEqual(await exchange(text), { kind: 'answered', text: answerTo(text) })
}

/** The server has read the request: nothing but its answer says what it did. */
async function unknownWhen({ server, exchange }: Test, act: ServerAct): Promise<void> {
  server.act = act
  equal((await exchange('one')).kind, 'unknown')
  ok(server.texts.length > 0, 'the server has read it')
}
