import type { VerificationReport } from '../../../audit/index.js'
import { Banner, Problem } from '../parts/basics.js'
import { linkTo } from '../pure/addresses.js'
import { damageText, type Failure } from '../pure/damage.js'
import { shownLine, shownValue } from '../pure/shown-text.js'
import { verification } from './verification.js'

/** How the verification came out: what holds, what was not checked, or the damage and its place. */
export function Verdict() {
  const { report, problem } = verification.value
  if (problem !== null) return <Problem of={problem} />
  if (report === null) return null
  return report.failure === undefined ? <Holds report={report} /> : <Broken report={report} />
}

function Holds({ report }: { readonly report: VerificationReport }) {
  const { signatures, journalEntries, stateEntries, reexecuted, notChecked } = report
  return (
    <Banner tone="done" icon="done">
      <b>All that was checked holds. </b>
      {`${signatures} signatures, ${journalEntries} journal entries, ${stateEntries} keys; `}
      {reexecuted === 0
        ? 'nothing was executed again.'
        : `${reexecuted} units executed again to the same bytes.`}
      {notChecked.length === 0 ? null : (
        <details>
          <summary class="mut">{`${notChecked.length} things were not checked`}</summary>
          <ul>
            {notChecked.map((text) => (
              <li key={text}>{shownLine(text)}</li>
            ))}
          </ul>
        </details>
      )}
    </Banner>
  )
}

function Broken({ report: { failure, line, receipts } }: { readonly report: VerificationReport }) {
  if (failure === undefined) return null
  const { index } = failure
  return (
    <Banner tone="failed" icon="alert" isAlert>
      <b>{damageText(failure)}</b>
      <div>
        {index === 0 ? 'Nothing' : `Receipts 0 to ${index - 1} hold; nothing`} after it can be
        trusted.
      </div>
      <Damage failure={failure} />
      <div class="row wrap">
        {index < receipts || index > 0 ? (
          <a class="btn" href={linkTo('ledger', index)}>{`Look at receipt ${index}`}</a>
        ) : null}
        <code class="said">{shownLine(line)}</code>
      </div>
    </Banner>
  )
}

/** What was signed beside what is stored. */
export function Damage({ failure }: { readonly failure: Failure }) {
  const { field, signed, computed, key } = failure
  return (
    <div class="dif">
      <b>{shownLine(key === undefined ? field : `${field} of ${key}`)}</b>
      <div class="p">{`signed   ${shownValue(signed, 600)}`}</div>
      <div class="m">{`computed ${shownValue(computed, 600)}`}</div>
    </div>
  )
}
