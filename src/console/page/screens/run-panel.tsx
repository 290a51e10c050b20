import type { RunView, SignalLine } from '../../../runtime/index.js'
import { now } from '../client/live.js'
import { useQuery } from '../client/query.js'
import { Banner, Command, Facts, Hash, NotChecked, Problem, Section } from '../parts/basics.js'
import { JsonView } from '../parts/json-view.js'
import { WidgetPlan } from '../parts/widget-plan.js'
import { addressText, linkTo } from '../pure/addresses.js'
import { diagnoseCommand, showCommand } from '../pure/commands.js'
import { tagFilter } from '../pure/live-lists.js'
import { questionOf } from '../pure/questions.js'
import { shownId, shownLine, shownPath, shownValue } from '../pure/shown-text.js'
import { dayText, tookText } from '../pure/time-text.js'
import { isObject } from '../pure/widgets.js'
import type { RunShown } from './run-shown.js'

/** A run as a whole: what it waits for, what it gave, what it was given. */
export function RunPanel({ shown }: { readonly shown: RunShown }) {
  const { run } = shown
  const [wait] = run.waits
  return (
    <>
      <div class="ih">
        <h2>Run</h2>
        <div class="mut">Choose a step or a node to look into it</div>
      </div>
      {wait === undefined ? <Due of={run} /> : null}
      {wait === undefined ? null : (
        <Banner tone="waiting" icon="waiting">
          <b>{shownLine(wait.reason)}</b> at <code>{shownPath(wait.path)}</code>
          <div class="mut">{shownLine(questionOf(wait))}</div>
          <a class="btn" href={linkTo('waits', wait.token)}>
            See what is asked
          </a>
        </Banner>
      )}
      <Section title="About">
        <About shown={shown} />
        <NotChecked texts={run.notChecked} />
      </Section>
      <Result shown={shown} />
      <Section title="Input" isOpen={run.response === null}>
        <JsonView value={run.input} label="Input" />
      </Section>
      <Signals shown={shown} />
      <Section title="In a shell" isOpen={false}>
        <Command words={showCommand(run.id)} />
        <Command words={diagnoseCommand(run.id)} />
      </Section>
    </>
  )
}

/** What it waits for where a message cannot end it: its turn in a queue, or a time. */
function Due({ of: { status, queued, due } }: { readonly of: RunView }) {
  if (queued !== undefined) {
    return (
      <Banner tone="waiting" icon="waiting">
        Waits for its turn in the queue <b>{shownLine(queued.name)}</b>
      </Banner>
    )
  }
  if (status !== 'waiting' || due === null) return null
  const left = due - now.value
  return (
    <Banner tone="waiting" icon="waiting">
      Continues by itself at <b class="num">{dayText(due)}</b>
      <div class="mut">{left > 0 ? `in ${tookText(left)}` : 'that is now'}</div>
    </Banner>
  )
}

function About({ shown: { run, journal } }: { readonly shown: RunShown }) {
  const { id, name, definitionHash, startedAt, updatedAt, receiptHash, status, tags } = run
  return (
    <Facts
      rows={[
        ['id', <code key="id">{shownLine(id)}</code>],
        ['document', shownLine(name)],
        ['definition', <Hash key="hash" hash={definitionHash} length={16} />],
        ['started', dayText(startedAt)],
        ['changed', dayText(updatedAt)],
        ['entries', String(journal.length)],
        ...(tags === undefined ? [] : [['tags', <Tags key="tags" of={tags} />] as const]),
        [
          'receipt',
          receiptHash === null ? (
            <span class="dim">{status === 'failed' ? 'none: evidence' : 'when it ends'}</span>
          ) : (
            <a class="link" href={linkTo('ledger', receiptHash)}>
              {receiptHash.slice(0, 16)}
            </a>
          )
        ]
      ]}
    />
  )
}

function Tags({ of: tags }: { readonly of: readonly string[] }) {
  return (
    <span class="row wrap">
      {tags.map((tag) => (
        <TagLink key={tag} tag={tag} />
      ))}
    </span>
  )
}

/** A tag, and the runs that have it. */
function TagLink({ tag }: { readonly tag: string }) {
  const text = tagFilter(tag)
  if (text === undefined) return <span class="tag">{shownLine(tag)}</span>
  const href = addressText({ screen: 'runs', id: undefined, query: { text } })
  return (
    <a class="tag" href={href}>
      {shownLine(tag)}
    </a>
  )
}

/** What the run was sent, and whether it has taken it. */
function Signals({ shown: { run, journal } }: { readonly shown: RunShown }) {
  const sent = journal.flatMap(({ entry }) => (entry.k === 'signal' ? [entry] : []))
  const asked = sent.length === 0 ? null : { id: run.id }
  const { value, problem } = useQuery('signals', asked, journal.length)
  if (sent.length === 0) return null
  const waiting = new Map(value?.signals.map((one) => [one.id, one]))
  const shown = sent.slice(-SIGNALS_SHOWN_MAX)
  return (
    <Section title={`Signals (${sent.length})`}>
      {problem === null ? null : <Problem of={problem} />}
      {shown.map((signal) => (
        <div class="card" key={signal.n}>
          <div class="row">
            <b>{shownLine(signal.name)}</b>
            {value === null ? null : <SignalPlace of={waiting.get(signal.id)} />}
          </div>
          <Facts
            rows={[
              ['id', shownLine(signal.id)],
              ['sent', dayText(signal.at)]
            ]}
          />
          <JsonView value={signal.value} label={`Value of signal ${shownLine(signal.id)}`} />
        </div>
      ))}
    </Section>
  )
}

const SIGNALS_SHOWN_MAX = 50

function SignalPlace({ of: waiting }: { readonly of: SignalLine | undefined }) {
  if (waiting === undefined) return <span class="tag">taken</span>
  const { takenAt } = waiting
  if (takenAt === null) return <span class="tag">not asked for yet</span>
  return <span class="tag">{`with the attempt at ${shownPath(takenAt)}`}</span>
}

function Result({ shown: { run } }: { readonly shown: RunShown }) {
  const { response } = run
  if (response === null) return null
  if (!response.success) {
    return (
      <Section title="Failure">
        <p class="failed ink">
          <b>{shownValue(response.reason)}</b>
        </p>
        <JsonView value={response.details ?? null} label="Details of the failure" />
      </Section>
    )
  }
  const { data } = response
  const plan = isObject(data) ? data['ui'] : undefined
  return (
    <>
      {plan === undefined ? null : (
        <Section title="Result, as it asks to be shown">
          <WidgetPlan plan={plan} />
        </Section>
      )}
      <Section title={`Result of ${shownId(run.id)}`} isOpen={plan === undefined}>
        <JsonView value={data ?? null} label="Result" />
      </Section>
    </>
  )
}
