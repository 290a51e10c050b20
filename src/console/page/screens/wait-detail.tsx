import { useState } from 'preact/hooks'
import type { JsonObject } from '../../../core/index.js'
import type { WaitLine } from '../../../runtime/index.js'
import { now } from '../client/live.js'
import { useAsked } from '../client/query.js'
import { Check, Command, NotChecked } from '../parts/basics.js'
import { JsonView } from '../parts/json-view.js'
import { linkTo } from '../pure/addresses.js'
import { answerCommand } from '../pure/commands.js'
import { hashOf } from '../pure/jcs.js'
import { membersAsked, questionOf, unknownOutcomeOf } from '../pure/questions.js'
import { shownId, shownLine, shownPath, shownValue } from '../pure/shown-text.js'
import { ageText, dayText } from '../pure/time-text.js'
import { digestedParts } from '../pure/wait-digest.js'
import { Answers } from './answers.js'
import { isNarrow } from './width.js'

/** What this page found of a wait's digest, computed from the members that it draws. */
export interface DigestCheck {
  readonly parts: JsonObject | null
  readonly verdict: 'same' | 'other' | 'unknown'
}

async function checkDigest({ wait }: WaitLine): Promise<DigestCheck> {
  const parts = await digestedParts(wait)
  if (parts === undefined) return { parts: null, verdict: 'unknown' }
  return { parts, verdict: (await hashOf(parts)) === wait.digest ? 'same' : 'other' }
}

/** One wait: what is asked, the bytes that an answer is bound to, and the answers. */
export function WaitDetail({ line }: { readonly line: WaitLine }) {
  const { wait, since, runId, due } = line
  const { value: check, problem } = useAsked(`${wait.token} ${wait.digest}`, 0, () =>
    checkDigest(line)
  )
  const [value, setValue] = useState('')
  const isUnknown = unknownOutcomeOf(wait) !== undefined
  return (
    <div class="wd">
      {isNarrow.value ? (
        <a class="btn" href={linkTo('waits')}>
          All waits
        </a>
      ) : null}
      <div class="row mut wrap">
        <span class="tag">{shownLine(wait.reason)}</span>
        <a class="link" href={linkTo('runs', runId)}>
          {shownId(runId)}
        </a>
        <span>{`step ${wait.step}, ${shownPath(wait.path)}`}</span>
        <span>{`asked ${ageText(now.value - since)} ago`}</span>
      </div>
      <h2>{shownLine(questionOf(wait))}</h2>
      {isUnknown ? (
        <p class="mut">
          The request was sent and no answer came. Nothing here can tell whether it happened: ask
          the other side before you choose.
        </p>
      ) : null}
      <Question line={line} parts={check?.parts ?? null} />
      <section class="card">
        <h3>Bound to these bytes</h3>
        <DigestVerdict verdict={problem === null ? (check?.verdict ?? null) : 'unhashed'} />
        <div class="digest">{wait.digest}</div>
        <div class="mut">
          An answer names this digest: if anything above changes, it is refused (digest_mismatch).
        </div>
        <NotChecked texts={line.notChecked} />
      </section>
      <section class="card">
        <h3>Who may answer</h3>
        <Approvers line={line} />
        {line.mayAnswer.ok ? null : (
          <Check verdict="unknown">{`not you: ${shownLine(line.mayAnswer.reason)}`}</Check>
        )}
        {due === null ? null : <p class="mut">{`It ends by itself at ${dayText(due)}.`}</p>}
      </section>
      <Answers line={line} isBound={check?.verdict === 'same'} value={value} onValue={setValue} />
      <Command words={answerCommand(runId, wait, wait.actions[0] ?? 'resume', value)} />
    </div>
  )
}

function Question({ line: { wait }, parts }: { line: WaitLine; parts: JsonObject | null }) {
  return (
    <section class="card">
      <h3>What is asked</h3>
      <dl class="big">
        {membersAsked(wait).map(([name, value]) => {
          const text = shownValue(value, 2_000)
          return (
            <div key={name}>
              <dt>{shownLine(name)}</dt>
              <dd class={/^(0x)?[0-9a-f]{24,}/.test(text) ? 'mono' : ''}>{text}</dd>
            </div>
          )
        })}
      </dl>
      <details>
        <summary class="mut">All of it, as it is hashed</summary>
        <JsonView value={parts ?? wait.request} label="What is hashed" />
      </details>
    </section>
  )
}

function DigestVerdict({ verdict }: { verdict: DigestCheck['verdict'] | 'unhashed' | null }) {
  switch (verdict) {
    case null:
      return <Check verdict="unknown">computing the digest of what is shown …</Check>
    case 'same':
      return (
        <Check verdict="holds">
          This page hashed all of what is asked, and got the digest below.
        </Check>
      )
    case 'other':
      return (
        <Check verdict="broken">
          What is shown does not hash to the digest below. Do not answer.
        </Check>
      )
    case 'unknown':
      return (
        <Check verdict="broken">
          The wait does not carry all that its digest covers, so this page cannot check it. Answer
          in a shell.
        </Check>
      )
    case 'unhashed':
      return (
        <Check verdict="broken">
          This browser cannot hash what is shown, so nothing can be answered from this page.
        </Check>
      )
  }
}

function Approvers({ line: { wait } }: { readonly line: WaitLine }) {
  const { approvers, approvals = [] } = wait
  if (approvers === undefined) {
    return <p>The owner of the ledger, and who has the right to answer. A name is a claim.</p>
  }
  const { keys, threshold } = approvers
  return (
    <>
      <p>{`${threshold} of these keys have to sign, ${approvals.length} have:`}</p>
      <ul>
        {keys.map((key) => (
          <li key={key}>
            <code>{shownLine(key)}</code>
          </li>
        ))}
      </ul>
    </>
  )
}
