import { useRef, useState } from 'preact/hooks'
import type { Json } from '../../../core/index.js'
import type { AnswerAction, WaitLine } from '../../../runtime/index.js'
import { ask } from '../client/api.js'
import { commandId } from '../client/browser.js'
import { problemOf } from '../client/query.js'
import { Banner, say } from '../parts/basics.js'
import { useKeys } from '../parts/keys.js'
import { answerWords } from '../pure/questions.js'
import { shownLine } from '../pure/shown-text.js'
import { session } from './session.js'

const actions = ['approve', 'deny', 'resume', 'retry', 'patch', 'skip', 'abort'] as const
const isAnswer = (action: string): action is AnswerAction =>
  actions.some((known) => known === action)

const VALUE = 'answer-value'

export interface AnswersProps {
  readonly line: WaitLine
  /** What is drawn hashes to the digest that an answer names. */
  readonly isBound: boolean
  readonly value: string
  readonly onValue: (value: string) => void
}

type Sent = {
  readonly action: AnswerAction
  readonly isOver: boolean
  readonly problem: string | null
}

/** Gives answers: each once, and the same one again is the same command (W10). */
function useAnswering({ line, value }: AnswersProps, isBound: boolean) {
  const { wait, runId } = line
  const [sent, setSent] = useState<Sent | null>(null)
  const commands = useRef(new Map<string, string>())
  const isWaiting = sent !== null && sent.problem === null
  const isOff = !isBound || !line.mayAnswer.ok || session.value?.readOnly !== false || isWaiting
  const answer = (action: AnswerAction) => {
    if (isOff) return
    const { takes } = answerWords(action, wait)
    const read = takes === null ? { given: {} } : valueIn(value)
    if ('problem' in read) {
      document.getElementById(VALUE)?.focus()
      return say(read.problem)
    }
    const key = `${action} ${value}`
    const command = commands.current.get(key) ?? commandId()
    commands.current.set(key, command)
    setSent({ action, isOver: false, problem: null })
    const { token, digest } = wait
    const given = { id: runId, token, digest, action, commandId: command, ...read.given }
    ask('message', given).then(
      (outcome) => {
        const problem = outcome.accepted ? null : (outcome.problem ?? outcome.reason)
        setSent({ action, isOver: outcome.accepted, problem })
        if (outcome.accepted) say(`${action}: taken, bound to ${digest.slice(0, 10)}`)
      },
      (thrown: unknown) => setSent({ action, isOver: false, problem: problemOf(thrown).message })
    )
  }
  return { sent, isOff, answer }
}

/** The answers of a wait. They are off until the digest of what is drawn was computed and fits. */
export function Answers(props: AnswersProps) {
  const { line, isBound, value, onValue } = props
  const { sent, isOff, answer } = useAnswering(props, isBound)
  const offered = line.wait.actions.filter(isAnswer)
  useKeys(
    Object.fromEntries(
      offered.map((action) => [answerWords(action, line.wait).key, () => answer(action)])
    )
  )
  const takes = offered.map((action) => answerWords(action, line.wait).takes)
  return (
    <>
      {takes.some((kind) => kind !== null) ? (
        <Value isPatch={!takes.includes('value')} value={value} onValue={onValue} />
      ) : null}
      {session.value?.readOnly === true ? (
        <p class="mut">This console is read only: answer in a shell.</p>
      ) : null}
      {sent !== null && sent.problem !== null ? (
        <Banner tone="failed" icon="alert" isAlert>
          <b>{shownLine(sent.problem)}</b> The answer was not taken.
        </Banner>
      ) : null}
      <div class="act">
        {offered.map((action) => (
          <Answer
            key={action}
            line={line}
            action={action}
            isOff={isOff}
            onAnswer={() => answer(action)}
          />
        ))}
        {sent?.isOver === true ? <span class="mut">taken; the run continues</span> : null}
      </div>
    </>
  )
}

function Answer(props: {
  readonly line: WaitLine
  readonly action: AnswerAction
  readonly isOff: boolean
  readonly onAnswer: () => void
}) {
  const { verb, key, tone } = answerWords(props.action, props.line.wait)
  const look = { yes: 'btn ok', no: 'btn no', plain: 'btn' }[tone]
  return (
    <button
      type="button"
      class={look}
      disabled={props.isOff}
      aria-keyshortcuts={key}
      onClick={props.onAnswer}
    >
      {verb}
      <kbd class="hide-s">{key}</kbd>
    </button>
  )
}

function Value(props: { isPatch: boolean; value: string; onValue: (value: string) => void }) {
  const example = props.isPatch
    ? '{"name": "Ada"}   a merge patch (RFC 7396)'
    : '"TRACK-1"   any JSON'
  return (
    <label class="value">
      <span class="mut">Value, as JSON</span>
      <textarea
        id={VALUE}
        class="inp mono"
        rows={3}
        spellcheck={false}
        placeholder={example}
        value={props.value}
        onInput={({ currentTarget: { value } }) => props.onValue(value)}
      />
    </label>
  )
}

type ReadValue = { readonly given: { readonly value?: Json } } | { readonly problem: string }

function valueIn(text: string): ReadValue {
  if (text.trim() === '') return { problem: 'Give a value first' }
  try {
    return { given: { value: JSON.parse(text) } }
  } catch {
    return { problem: 'The value is not JSON' }
  }
}
