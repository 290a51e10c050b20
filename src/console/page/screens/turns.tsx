import { deltas } from '../client/live.js'
import { choose } from '../client/navigation.js'
import { Check, Facts, Pill } from '../parts/basics.js'
import { JsonView } from '../parts/json-view.js'
import { linkTo } from '../pure/addresses.js'
import { shownId, shownLine, shownPath, shownText } from '../pure/shown-text.js'
import { tookText } from '../pure/time-text.js'
import { type AgentTurn, type PromptSegment, turnsOf } from '../pure/turns.js'
import type { RunShown } from './run-shown.js'

/** What agents were asked, from where each part of it came, and what they said. */
export function Turns({ shown }: { readonly shown: RunShown }) {
  const { run, journal, past } = shown
  const turns = turnsOf(journal, past.steps)
  const tokens = turns.reduce((sum, turn) => sum + turn.tokens, 0)
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
        </div>
        <div class="grow" />
        <button type="button" class="btn" onClick={() => choose({ view: null })}>
          Chart and timeline
        </button>
      </div>
      {turns.map((turn) => (
        <Turn key={turn.key} turn={turn} runId={run.id} />
      ))}
    </div>
  )
}

function Turn({ turn, runId }: { readonly turn: AgentTurn; readonly runId: string }) {
  const { step, agent, model, text, structured, prompt, tools, warnings } = turn
  const arriving = step.response === null ? deltas.value.get(`${runId} ${step.path}`) : undefined
  return (
    <section class="turn" aria-label={`Turn ${step.step}`}>
      <div>
        <h3>{shownPath(step.path)}</h3>
        <div class="mut">{shownLine(agent)}</div>
        <Facts
          rows={[
            model === '' ? null : ['model', <span class="tag">{shownLine(model)}</span>],
            ['took', tookText(step.endedAt - step.startedAt)],
            turn.tokensIn === null ? null : ['in', `${turn.tokensIn} tokens`],
            turn.tokensOut === null ? null : ['out', `${turn.tokensOut} tokens`],
            ['cost', turn.cost === null ? 'no price set' : `$${turn.cost}`],
            step.receiptHash === null
              ? null
              : [
                  'receipt',
                  <a class="link" href={linkTo('ledger', step.receiptHash)}>
                    {step.receiptHash.slice(0, 10)}
                  </a>
                ]
          ]}
        />
      </div>
      <div>
        <div class="seglist">
          {prompt.map((segment) => (
            <Segment key={segment.key} segment={segment} />
          ))}
        </div>
        {structured === null ? (
          <div class="say">
            {shownText(arriving ?? text)}
            {arriving === undefined ? null : <span class="car" />}
          </div>
        ) : (
          <JsonView value={structured} label="Answer" />
        )}
        <p class="dim">
          {tools.length === 0 ? 'no tools used' : `tools: ${shownLine(tools.join(', '))}`}
        </p>
        {warnings.map((warning) => (
          <Check key={warning} verdict="unknown">
            {shownLine(warning)}
          </Check>
        ))}
      </div>
    </section>
  )
}

function Segment({ segment }: { readonly segment: PromptSegment }) {
  const { scope, label, source, hash } = segment
  return (
    <div class={`pseg s-${/^[a-z]+$/.test(scope) ? scope : 'other'}`}>
      <span class="tag">{shownLine(scope)}</span>
      <b>{shownLine(label)}</b>
      <code class="mut tr grow">{shownLine(source)}</code>
      <code class="dim" title={hash}>
        {hash.slice(0, 8)}
      </code>
    </div>
  )
}
