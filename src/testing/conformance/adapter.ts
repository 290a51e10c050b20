import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import type {
  AdapterSettings,
  AgentAdapter,
  AgentSession,
  TurnDelta,
  TurnRequest,
  TurnResult
} from '../../agent/index.js'
import { EffectFailure } from '../../code/index.js'
import { canonicalizeLedgerValue, systemClock } from '../../core/index.js'
import { type ConformanceCheck, ignored, runCheck } from './check.js'

/** What the model behind an adapter does with the next turns. */
export type AdapterScene = keyof typeof adapterScenes

/** What a driver has its model say, scene by scene. */
export const adapterScenes = {
  /** Answers `text` to every turn. */
  text: { text: 'The invoice is due on 30 June. — ✓' },
  /** The same, with thoughts before it. */
  reasoning: { text: 'Yes.', reasoning: 'The date has passed.' },
  /** Asked for JSON, answers with it in a fenced block and words around it. */
  structured: { text: 'Here:\n```json\n{"score": 0.85, "canComplete": true}\n```\n' },
  /** Asked for JSON, answers in words. */
  unstructured: { text: 'I would rather not say.' },
  /** Calls the tool `look_up` with these arguments, and says nothing. */
  tools: { id: 'call-1', name: 'look_up', arguments: '{"number":17,"share":0.5}' },
  /** Refuses the key. */
  unauthorized: {},
  /** Breaks off in mid-answer. */
  lost: {},
  /** Begins to answer, and says nothing more. */
  hang: {}
} as const

/** What the suite needs of an adapter under test. */
export interface AdapterDriver {
  /** Scenes that it cannot play: their checks do not apply. */
  readonly without?: readonly AdapterScene[]
  /** The adapter, and settings with which its turns play this scene. */
  start(scene: AdapterScene): Promise<{
    readonly adapter: AgentAdapter
    readonly settings: AdapterSettings
    close(): Promise<void>
  }>
}

/** One check of {@link adapterConformance}, with the scene that the driver has to play. */
export interface AdapterCheck extends ConformanceCheck<AdapterDriver> {
  readonly scene: AdapterScene
}

/**
 * The suite that every adapter passes. `adapterChecks(driver)` leaves out what does not apply; run
 * each check under the test runner of your choice.
 */
export const adapterConformance: readonly AdapterCheck[] = [
  check('answers a turn with text, usage and model', 'text', answers),
  check('A4: tells the text as it arrives, in order', 'text', tellsDeltas),
  check('A4: does the turns of a session one after the other', 'text', keepsTurns),
  check('A5: seals nothing but plain values of the ledger', 'structured', sealsPlainly),
  check('gives reasoning beside the text', 'reasoning', reasons),
  check('gives the JSON that was asked for', 'structured', structures),
  check('says that JSON is missing when there is none', 'unstructured', missesStructure),
  check('hands tool calls back and does none', 'tools', handsBackTools),
  check('A5: fails definitely when it is refused, and quotes nothing', 'unauthorized', refused),
  check('A5: fails without knowing when an answer is lost', 'lost', loses),
  check('is called off in mid-answer', 'hang', calledOff),
  check('A5: sends nothing once it was called off', 'text', sendsNothing),
  check('disposes of a session more than once', 'text', disposesTwice)
]

/** The checks that apply to a driver. */
export function adapterChecks(driver: AdapterDriver): readonly AdapterCheck[] {
  return adapterConformance.filter(({ scene }) => driver.without?.includes(scene) !== true)
}

/** What the suite asks; a key and a prompt that no failure may quote. */
export const conformanceSecrets = {
  apiKey: 'sk-conformance-0123456789abcdef',
  prompt: 'Is invoice 17 of the secretive customer due?'
} as const

interface Session {
  session(): Promise<AgentSession>
  turn(request?: Partial<TurnRequest>, options?: TurnExtras): Promise<TurnResult>
}

interface TurnExtras {
  readonly signal?: AbortSignal
  readonly onDelta?: (delta: TurnDelta) => void
}

type Act = (session: Session) => Promise<void>

function check(name: string, scene: AdapterScene, act: Act): AdapterCheck {
  return {
    name,
    scene,
    run: (driver, options = {}) =>
      runCheck(name, options, async (opened) => {
        const { adapter, settings, close } = await driver.start(scene)
        opened.onEnd(close)
        let opening: Promise<AgentSession> | undefined
        let count = 0
        // Opened by the first turn, because a backend may refuse either.
        const session = () => {
          const names = { runId: 'run-1', agentId: 'clerk', flowName: 'conformance' }
          if (opening === undefined) {
            const begun = adapter.open({ ...names, settings, systemPrompt: 'Be brief.' })
            opening = begun
            // A backend that has broken off may not hear of it.
            opened.onEnd(() => ignored(async () => (await begun).dispose()))
          }
          return opening
        }
        deepEqual(adapter.validate?.(settings) ?? [], [])
        const turn: Session['turn'] = async (request, extras) => {
          count += 1
          const named = { invocationId: `turn-${count}`, ...request }
          return turnOf(await session(), named, extras)
        }
        await act({ session, turn })
      })
  }
}

function turnOf(
  session: AgentSession,
  request: Partial<TurnRequest> = {},
  extras: TurnExtras = {}
): Promise<TurnResult> {
  const invocationId = request.invocationId ?? 'turn'
  const whole: TurnRequest = {
    runId: 'run-1',
    nodeId: 'main-prompt',
    agentId: 'clerk',
    turnMode: 'normal',
    prompt: conformanceSecrets.prompt,
    input: {},
    messages: [],
    ...request,
    invocationId
  }
  const { signal = new AbortController().signal } = extras
  return session.turn(whole, { ...extras, signal, invocationId })
}

const asksForScore: Partial<TurnRequest> = {
  turnMode: 'evaluate',
  expectedOutput: {
    schemaRef: 'score',
    schema: {
      type: 'object',
      properties: { score: { type: 'number' }, canComplete: { type: 'boolean' } },
      required: ['score', 'canComplete']
    }
  }
}

async function answers({ turn }: Session): Promise<void> {
  const result = await turn()
  equal(result.status, 'completed')
  equal(result.finalText, adapterScenes.text.text)
  deepEqual(result.toolCalls, [])
  equal(result.error, undefined)
  ok(result.model.length > 0, 'it says which model answered')
  for (const tokens of Object.values(result.usage)) {
    ok(typeof tokens === 'string' || (Number.isSafeInteger(tokens) && tokens >= 0))
  }
}

async function tellsDeltas({ turn }: Session): Promise<void> {
  const deltas: TurnDelta[] = []
  const result = await turn({}, { onDelta: (delta) => deltas.push(delta) })
  const text = deltas.filter(({ kind }) => kind === 'text').map((delta) => delta.text)
  equal(text.join(''), result.finalText)
}

async function keepsTurns({ turn }: Session): Promise<void> {
  const first = await turn()
  const second = await turn({ nodeId: 'main-evaluate' })
  deepEqual([first.status, second.status], ['completed', 'completed'])
  equal(second.finalText, adapterScenes.text.text)
}

async function sealsPlainly({ turn }: Session): Promise<void> {
  const result = await turn(asksForScore)
  const text = canonicalizeLedgerValue(result)
  deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(result)))
}

async function reasons({ turn }: Session): Promise<void> {
  const result = await turn()
  equal(result.finalText, adapterScenes.reasoning.text)
  equal(result.reasoningText, adapterScenes.reasoning.reasoning)
}

async function structures({ turn }: Session): Promise<void> {
  const result = await turn(asksForScore)
  deepEqual(result.structuredOutput, { score: 0.85, canComplete: true })
}

async function missesStructure({ turn }: Session): Promise<void> {
  const result = await turn(asksForScore)
  equal(result.status, 'completed')
  equal(result.structuredOutput, undefined)
  ok(result.warnings.length > 0, 'it warns')
}

async function handsBackTools({ turn }: Session): Promise<void> {
  const parameters = { type: 'object', properties: { number: { type: 'integer' } } }
  const tools = [{ name: 'look_up', description: 'Looks an invoice up.', parameters }]
  const result = await turn({ tools })
  equal(result.status, 'completed')
  const { id, name } = adapterScenes.tools
  deepEqual(result.toolCalls, [{ id, name, arguments: { number: 17, share: 0.5 } }])
  const messages: TurnRequest['messages'] = [
    { role: 'assistant', text: '', toolCalls: result.toolCalls },
    { role: 'tool', toolCallId: id, name, result: { due: '2026-06-30' } }
  ]
  equal((await turn({ tools, messages })).status, 'completed')
}

async function refused({ turn }: Session): Promise<void> {
  await rejects(turn(), (error: unknown) => {
    equal(failure(error).definite, true)
    equal(failure(error).reason, 'unauthorized')
    return quotesNothing(error)
  })
}

async function loses({ turn }: Session): Promise<void> {
  await rejects(turn(), (error: unknown) => {
    equal(failure(error).definite, false)
    return quotesNothing(error)
  })
}

async function calledOff({ turn }: Session): Promise<void> {
  const controller = new AbortController()
  const { signal } = controller
  let began: (() => void) | undefined
  const beginning = new Promise<void>((resolve) => {
    began = resolve
  })
  const ending = turn({}, { signal, onDelta: () => began?.() })
  const ended = rejects(ending, (error: unknown) => {
    equal(failure(error).reason, 'aborted')
    equal(failure(error).definite, false)
    return quotesNothing(error)
  })
  // An adapter that does not stream is called off once its request is under way.
  const { elapsed, stop } = later()
  await Promise.race([beginning, elapsed])
  stop()
  controller.abort()
  await ended
}

async function sendsNothing({ turn }: Session): Promise<void> {
  const controller = new AbortController()
  controller.abort()
  await rejects(turn({}, { signal: controller.signal }), (error: unknown) => {
    equal(failure(error).reason, 'not_sent')
    equal(failure(error).definite, true)
    return true
  })
}

async function disposesTwice({ session, turn }: Session): Promise<void> {
  await turn()
  await (await session()).dispose()
  await (await session()).dispose()
}

function failure(error: unknown): EffectFailure {
  ok(error instanceof EffectFailure, `an EffectFailure, not ${String(error)}`)
  return error
}

function quotesNothing(error: unknown): boolean {
  const { message, stack = '', details, cause } = failure(error)
  const told = [message, stack, JSON.stringify(details), String(cause)].join('\n')
  ok(!told.includes(conformanceSecrets.apiKey), 'it does not quote the key')
  ok(!told.includes(conformanceSecrets.prompt), 'it does not quote the prompt')
  return true
}

const LATER_MS = 200

function later(): { readonly elapsed: Promise<void>; readonly stop: () => void } {
  let stop = () => {}
  const elapsed = new Promise<void>((resolve) => {
    stop = systemClock.schedule(systemClock.now() + LATER_MS, resolve)
  })
  return { elapsed, stop }
}
