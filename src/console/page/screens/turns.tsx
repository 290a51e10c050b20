import { useState } from 'preact/hooks'
import type { Calls } from '../../../runtime/index.js'
import { type ApiProblem, ask } from '../client/api.js'
import { deltas } from '../client/live.js'
import { choose } from '../client/navigation.js'
import { problemOf, useQuery } from '../client/query.js'
import { Check, Facts, NotChecked, Pill, Problem } from '../parts/basics.js'
import { JsonView } from '../parts/json-view.js'
import { linkTo } from '../pure/addresses.js'
import { shownId, shownLine, shownPath, shownText } from '../pure/shown-text.js'
import { tookText } from '../pure/time-text.js'
import {
  type AgentTurn,
  type PromptSegment,
  priceText,
  segmentTexts,
  settingsOf,
  type TurnSettings,
  turnsOf
} from '../pure/turns.js'
import { chooseStep, type RunShown } from './run-shown.js'
import { SaidText } from './said-text.js'

/** Turns that are drawn at first: the input of each is read. */
const TURNS_DRAWN = 30

/** What agents were asked, from where each part of it came, and what they said. */
export function Turns({ shown }: { readonly shown: RunShown }) {
  const { run, journal, past } = shown
  const [limit, setLimit] = useState(TURNS_DRAWN)
  const turns = turnsOf(journal, past.steps)
  const tokens = turns.reduce((sum, turn) => sum + turn.tokens, 0)
  const costs = turns.flatMap(({ cost }) => cost ?? [])
  return (
    <div class="turns">
      <div class="rh">
        <h2>{shownId(run.id)}</h2>
        <Pill status={run.status} />
        <div class="facts">
          <span>
            <b>{turns.length}</b> turns
          </span>
          <span>
            <b class="num">{tokens}</b> tokens
          </span>
          <b>
            {costs.length === 0 ? 'no price set' : priceText(costs.reduce((sum, one) => sum + one))}
          </b>
        </div>
        <div class="grow" />
        <button type="button" class="btn" onClick={() => choose({ view: null })}>
          Chart and timeline
        </button>
      </div>
      {turns.slice(0, limit).map((turn) => (
        <Turn key={turn.key} turn={turn} runId={run.id} />
      ))}
      {turns.length > limit ? (
        <div class="bar">
          <button type="button" class="btn" onClick={() => setLimit(limit + TURNS_DRAWN)}>
            {`Show more of ${turns.length} turns`}
          </button>
        </div>
      ) : null}
    </div>
  )
}

function Turn({ turn, runId }: { readonly turn: AgentTurn; readonly runId: string }) {
  const { step, text, structured, tools, warnings } = turn
  const hash = step.receiptHash
  const { value: receipt } = useQuery('receipt', hash === null ? null : { hash })
  const settings = receipt === null ? null : settingsOf(receipt.payload)
  const arriving = step.response === null ? deltas.value.get(`${runId} ${step.path}`) : undefined
  return (
    <section class="turn" aria-label={`Turn ${step.step}`}>
      <About turn={turn} settings={settings} index={receipt?.index ?? null} />
      <div>
        <Asked turn={turn} runId={runId} />
        {settings === null || settings.expects === '' ? null : (
          <p class="mut">{`must answer as JSON schema ${shownLine(settings.expects)}`}</p>
        )}
        {structured === null ? (
          <SaidText text={text} arriving={arriving} tookMs={step.endedAt - step.startedAt} />
        ) : (
          <JsonView value={structured} label="Answer" />
        )}
        {tools.length === 0 ? <p class="dim">no tools used</p> : null}
        {tools.map(({ key, name, outcome }) => (
          <Check key={key} verdict={outcome === 'done' ? 'holds' : 'unknown'}>
            {`tool ${shownLine(name)}: ${shownLine(outcome)}`}
          </Check>
        ))}
        {warnings.map((warning) => (
          <Check key={warning} verdict="unknown">
            {shownLine(warning)}
          </Check>
        ))}
      </div>
    </section>
  )
}

function About(props: {
  readonly turn: AgentTurn
  readonly settings: TurnSettings | null
  /** Place of its receipt. */
  readonly index: number | null
}) {
  const { turn, settings, index } = props
  const { step, agent, model, tokensIn, tokensOut, cost, spent } = turn
  return (
    <div>
      <h3>
        <button
          type="button"
          class="link"
          onClick={() => {
            choose({ view: null })
            chooseStep(step)
          }}
        >
          {shownPath(step.path)}
        </button>
      </h3>
      <div class="mut">{shownLine(agent)}</div>
      <div class="row wrap tags">
        {settings === null || settings.mode === '' ? null : (
          <span class="tag">{shownLine(settings.mode)}</span>
        )}
        {model === '' ? null : <span class="tag">{shownLine(model)}</span>}
      </div>
      <Facts
        rows={[
          ['took', tookText(step.endedAt - step.startedAt)],
          tokensIn === null ? null : ['in', `${tokensIn} tokens`],
          tokensOut === null ? null : ['out', `${tokensOut} tokens`],
          ['cost', cost === null ? 'no price set' : priceText(cost)],
          step.receiptHash === null
            ? null
            : [
                'receipt',
                <a key="receipt" class="link" href={linkTo('ledger', index ?? step.receiptHash)}>
                  {index === null ? step.receiptHash.slice(0, 10) : `#${index}`}
                </a>
              ]
        ]}
      />
      {spent === null || settings === null ? null : (
        <>
          <Meter used={spent.tokens} most={settings.tokensMax} text={(part) => `${part} tokens`} />
          <Meter used={spent.cost} most={settings.costMax} text={priceText} />
        </>
      )}
    </div>
  )
}

/** How much of its budget an agent had used by then. */
function Meter(props: {
  readonly used: number
  readonly most: number | null
  readonly text: (part: number) => string
}) {
  const { used, most, text } = props
  if (most === null || most <= 0) return null
  const label = `${text(used)} of ${text(most)}`
  return (
    <div class="meter">
      <div class="mut num">{label}</div>
      <progress aria-label={label} value={Math.min(used, most)} max={most} />
    </div>
  )
}

interface Read {
  readonly texts: ReadonlyMap<string, string>
  readonly calls: Calls | null
  readonly problem: ApiProblem | null
}

/** The segments of a prompt; their texts are made again, by its code, when one is opened. */
function Asked({ turn, runId }: { readonly turn: AgentTurn; readonly runId: string }) {
  const [read, setRead] = useState<Read | 'asking' | null>(null)
  const { step, prompt } = turn
  const open = () => {
    if (read !== null) return
    setRead('asking')
    textsOf(turn, runId).then(setRead, (thrown: unknown) =>
      setRead({ texts: new Map(), calls: null, problem: problemOf(thrown) })
    )
  }
  const found = read === 'asking' ? null : read
  const [request] = found?.calls?.calls ?? []
  return (
    <div class="seglist">
      {prompt.map((segment) => (
        <Segment
          key={segment.key}
          segment={segment}
          text={found?.texts.get(segment.hash) ?? null}
          isRead={found !== null}
          onOpen={open}
        />
      ))}
      {prompt.length === 0 && step.response === null ? (
        <p class="mut">What it was asked is known when it has answered.</p>
      ) : null}
      {found?.problem == null ? null : <Problem of={found.problem} />}
      {found?.calls == null ? null : <NotChecked texts={found.calls.notChecked} />}
      {request === undefined || request.request === null ? null : (
        <details class="pseg">
          <summary>
            <span class="tag">request</span>
            <b>as it was sent to the model</b>
          </summary>
          <JsonView value={request.request} label="Request" />
        </details>
      )}
    </div>
  )
}

async function textsOf({ step, prompt }: AgentTurn, id: string): Promise<Read> {
  const { path, step: number, attempts: attempt } = step
  const calls = await ask('calls', { id, path, step: number, attempt })
  const first = calls.calls.find(({ effect }) => effect === 'agent.turn')
  const texts = await segmentTexts(first?.request ?? null, prompt)
  return { texts, calls, problem: null }
}

function Segment(props: {
  readonly segment: PromptSegment
  readonly text: string | null
  readonly isRead: boolean
  readonly onOpen: () => void
}) {
  const { segment, text, isRead, onOpen } = props
  const { scope, label, source, hash } = segment
  return (
    <details
      class={`pseg s-${/^[a-z]+$/.test(scope) ? scope : 'other'}`}
      onToggle={({ currentTarget }) => currentTarget.open && onOpen()}
    >
      <summary>
        <span class="tag">{shownLine(scope)}</span>
        <b>{shownLine(label)}</b>
        <code class="mut tr grow">{shownLine(source)}</code>
        <code class="dim" title={hash}>
          {hash.slice(0, 8)}
        </code>
      </summary>
      {text !== null ? (
        <>
          <p class="said">{shownText(text)}</p>
          <Check verdict="holds">its hash is the one that is signed</Check>
        </>
      ) : (
        <p class="mut">{isRead ? 'Its text cannot be made again here.' : 'Making it again …'}</p>
      )}
    </details>
  )
}
