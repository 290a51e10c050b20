import type { JournalEntry } from '../../../block/index.js'
import type { ReceiptView } from '../../../runtime/index.js'
import { choose } from '../client/navigation.js'
import { useAsked, useQuery } from '../client/query.js'
import { Check, Facts, Hash, NotChecked, Pill, Problem, Section } from '../parts/basics.js'
import { Icon } from '../parts/icon.js'
import { JsonView } from '../parts/json-view.js'
import { linkTo } from '../pure/addresses.js'
import { hashOf } from '../pure/jcs.js'
import { entryText } from '../pure/lanes.js'
import type { RunStep } from '../pure/run-steps.js'
import { shownLine, shownPath, shownValue } from '../pure/shown-text.js'
import { dayText, preciseText, tookText } from '../pure/time-text.js'
import { DoneAgain } from './done-again.js'
import { type RunShown, tookMs } from './run-shown.js'
import { StateLink } from './state-link.js'
import { WriteSetView } from './write-set.js'

interface StepProps {
  readonly shown: RunShown
  readonly step: RunStep
}

/** One step: input, output, sealed responses and changes of state beside each other. */
export function StepPanel({ shown, step }: StepProps) {
  const { receiptHash, response } = step
  const { value: receipt, problem } = useQuery(
    'receipt',
    receiptHash === null ? null : { hash: receiptHash }
  )
  return (
    <>
      <div class="ih">
        <div class="row">
          <h2 class="tr">{shownPath(step.path)}</h2>
          <Pill status={step.state} />
          <div class="grow" />
          <button
            type="button"
            class="ib"
            aria-label="Close the detail"
            onClick={() => choose({ step: null, at: null, tab: null })}
          >
            <Icon name="failed" />
          </button>
        </div>
        <div class="mut tr">{`step ${step.step}`}</div>
      </div>
      <Section title="About">
        <About shown={shown} step={step} receipt={receipt} />
        {receipt === null ? null : <ResultHash receipt={receipt} />}
        {receipt === null ? null : <NotChecked texts={receipt.notChecked} />}
      </Section>
      {problem === null ? null : <Problem of={problem} />}
      {receipt === null ? null : (
        <Section title="Input">
          <JsonView value={receipt.payload} label="Input" />
        </Section>
      )}
      {response === null ? null : (
        <Section title="Output">
          <JsonView
            value={response.success ? (response.data ?? null) : (response.details ?? null)}
            label="Output"
          />
        </Section>
      )}
      <Exceptions shown={shown} step={step} />
      <Effects shown={shown} step={step} />
      <Waits shown={shown} step={step} />
      {receipt === null ? null : (
        <Section title={`Changes of state (${receipt.writeSet.length})`}>
          <WriteSetView changes={receipt.writeSet} />
          <StateLink index={receipt.index} />
        </Section>
      )}
      <DoneAgain runId={shown.run.id} step={step} />
      <Section title="Journal" isOpen={false}>
        <Entries shown={shown} step={step} />
      </Section>
    </>
  )
}

/** What the code of the step has thrown, with where and why. */
function Exceptions({ shown, step }: StepProps) {
  const hasFailed = step.response !== null && !step.response.success
  const { value } = useQuery('exceptions', hasFailed ? { id: shown.run.id } : null)
  const own = (value?.exceptions ?? []).filter(
    (one) => one.path === step.path && one.step === step.step
  )
  if (own.length === 0) return null
  return (
    <Section title={`Thrown (${own.length})`}>
      {own.map(({ attempt, seq = 0, effect, exception }) => (
        <div class="card" key={`${attempt} ${seq}`}>
          <b>{shownLine(`${exception.name}: ${exception.message}`)}</b>
          {effect === undefined ? null : <div class="mut">{shownLine(`performing ${effect}`)}</div>}
          <JsonView value={exception} label={`Exception of attempt ${attempt}`} />
        </div>
      ))}
    </Section>
  )
}

function About({ shown, step, receipt }: StepProps & { readonly receipt: ReceiptView | null }) {
  const { attempts, startedAt, from, to, response, receiptHash } = step
  const failure = response === null || response.success ? null : response.reason
  return (
    <Facts
      rows={[
        ['attempts', String(attempts)],
        ['started', preciseText(startedAt)],
        ['took', tookText(tookMs(shown, step))],
        ['entries', `${from} to ${to}`],
        receiptHash === null
          ? null
          : [
              'receipt',
              <a key="receipt" class="link" href={linkTo('ledger', receipt?.index ?? receiptHash)}>
                {receipt === null ? '' : `#${receipt.index} `}
                {receiptHash.slice(0, 10)}
              </a>
            ],
        failure === null
          ? null
          : [
              'reason',
              <b key="reason" class="failed ink">
                {shownValue(failure)}
              </b>
            ]
      ]}
    />
  )
}

/** Whether the output that is drawn hashes to what is signed. */
export function ResultHash({ receipt }: { readonly receipt: ReceiptView }) {
  const { resultHash, receiptHash } = receipt.receipt
  const isThere = !receipt.withheld.includes('result') && receipt.problem === undefined
  const { value: hash } = useAsked(isThere ? receiptHash : null, 0, () => hashOf(receipt.result))
  if (!isThere) return <Check verdict="unknown">the result is not here</Check>
  if (hash === null) return null
  const isSame = hash === resultHash
  return (
    <Check verdict={isSame ? 'holds' : 'unknown'}>
      {isSame
        ? 'this page hashed the result: '
        : 'the result is shown otherwise than it is hashed: '}
      <code>{resultHash.slice(0, 12)}</code>
    </Check>
  )
}

const entriesOf = ({ shown, step }: StepProps): readonly JournalEntry[] =>
  step.entries.flatMap((number) => shown.journal[number]?.entry ?? [])

function Effects(props: StepProps) {
  const entries = entriesOf(props)
  const sealed = entries.filter((entry) => entry.k === 'sealed')
  const calls = sealed.filter(({ effect }) => effect !== 'wait' && effect !== 'timer')
  const open = entries.filter(
    (entry) =>
      entry.k === 'requested' &&
      !sealed.some(({ seq, attempt }) => seq === entry.seq && attempt === entry.attempt)
  )
  const all = [...calls, ...open]
  if (all.length === 0) return null
  return (
    <Section title={`Effects (${all.length})`}>
      {all.map((entry) => (
        <Effect key={entry.n} entry={entry} entries={entries} />
      ))}
    </Section>
  )
}

function Effect({ entry, entries }: { entry: JournalEntry; entries: readonly JournalEntry[] }) {
  if (entry.k !== 'sealed' && entry.k !== 'requested') return null
  const asked = entries.find(
    (one) => one.k === 'requested' && one.seq === entry.seq && one.attempt === entry.attempt
  )
  const key = asked?.k === 'requested' ? asked.key : null
  const word =
    entry.k === 'requested' ? 'sent, not answered' : entry.ok ? 'sealed' : 'sealed failure'
  return (
    <div class="card">
      <div class="row">
        <b>{shownLine(entry.effect)}</b>
        <span class="tag">{word}</span>
        {entry.attempt > 1 ? <span class="dim">{`try ${entry.attempt}`}</span> : null}
      </div>
      <Facts
        rows={[
          key === null ? null : ['key', <Hash key="key" hash={key} length={16} />],
          ['request', <Hash key="request" hash={entry.requestHash} length={16} />],
          entry.k === 'requested'
            ? null
            : ['response', <Hash key="response" hash={entry.responseHash} length={16} />]
        ]}
      />
      {entry.k === 'sealed' ? <JsonView value={entry.body} label="Sealed response" /> : null}
    </div>
  )
}

function Waits(props: StepProps) {
  const entries = entriesOf(props)
  const waits = entries.filter((entry) => entry.k === 'wait')
  if (waits.length === 0) return null
  // A message ends only these: what sleeps or polls continues by itself.
  const isAsked = (token: string) => props.shown.run.waits.some((open) => open.token === token)
  return (
    <Section title={`Waits (${waits.length})`}>
      {waits.map((wait) => {
        const answer = entries.find(
          (entry) =>
            entry.n > wait.n &&
            ((entry.k === 'sealed' && entry.seq === wait.seq) ||
              ((entry.k === 'answered' || entry.k === 'decision') && entry.token === wait.token))
        )
        return (
          <div class="card" key={wait.n}>
            <div class="row">
              <b>{shownLine(wait.reason)}</b>
              {isAsked(wait.token) ? (
                <a class="btn" href={linkTo('waits', wait.token)}>
                  open
                </a>
              ) : answer === undefined ? null : (
                <span class="tag">
                  {'action' in answer ? shownLine(answer.action) : 'answered'}
                </span>
              )}
            </div>
            <Facts
              rows={[
                ['digest', <Hash key="digest" hash={wait.digest} length={16} />],
                wait.due === null ? null : ['due', dayText(wait.due)],
                answer === undefined ? null : ['answered', `${tookText(answer.at - wait.at)} later`]
              ]}
            />
          </div>
        )
      })}
    </Section>
  )
}

function Entries({ shown, step }: StepProps) {
  return (
    <ol class="entries">
      {step.entries.slice(0, 200).map((number) => {
        const row = shown.journal[number]
        return row === undefined ? null : (
          <li key={number}>
            <button type="button" class="hash" onClick={() => choose({ at: number })}>
              {`${number}  ${shownLine(entryText(row))}`}
            </button>
          </li>
        )
      })}
    </ol>
  )
}
