import type { ReceiptView } from '../../../runtime/index.js'
import { ask } from '../client/api.js'
import { saveFile } from '../client/browser.js'
import { status } from '../client/live.js'
import { problemOf } from '../client/query.js'
import { Check, Facts, Hash, NotChecked, Pill, Section, say } from '../parts/basics.js'
import { Icon } from '../parts/icon.js'
import { JsonView } from '../parts/json-view.js'
import { linkTo } from '../pure/addresses.js'
import { damageText, type Failure, isOfReceipt } from '../pure/damage.js'
import { checkReceipt } from '../pure/receipt-check.js'
import { shownId, shownLine, shownPath, shownValue } from '../pure/shown-text.js'
import { dayText } from '../pure/time-text.js'
import { isObject } from '../pure/widgets.js'
import { LinkCheck, SignatureCheck } from './record-checks.js'
import { SealedResponses } from './sealed-responses.js'
import { StateLink } from './state-link.js'
import { ResultHash } from './step-panel.js'
import { verification, verify } from './verification.js'
import { Damage } from './verification-verdict.js'
import { WriteSetView } from './write-set.js'

/** One receipt: what was checked of it, its fields, and what stands beside it. */
export function ReceiptPanel({ view }: { readonly view: ReceiptView }) {
  const { index, receipt, writeSet, payload, result } = view
  const { report } = verification.value
  const failure = report?.failure?.index === index ? report.failure : undefined
  const last = (status.value?.receipts ?? 1) - 1
  return (
    <>
      <div class="ih">
        <div class="row">
          <h2>{`Receipt ${index}`}</h2>
          {failure === undefined ? null : (
            <Pill status="failed" text={isOfReceipt(failure) ? 'altered' : 'damage here'} />
          )}
          <div class="grow" />
          <Beside index={index - 1} last={last} word="Older" />
          <Beside index={index + 1} last={last} word="Newer" />
        </div>
        <div class="mut tr">{`commit ${view.commitSeq}, ${shownLine(receipt.dappId)}`}</div>
      </div>
      <Section title="Checks">
        <Checks view={view} failure={failure} />
      </Section>
      {failure === undefined ? null : (
        <Section title="Difference">
          <Damage failure={failure} />
        </Section>
      )}
      <Section title="The 16 fields">
        <Fields view={view} />
      </Section>
      <Where view={view} />
      <Section title="Input" isOpen={false}>
        <JsonView value={payload} label="Input" />
      </Section>
      <Section title="Result">
        <JsonView value={result} label="Result" />
      </Section>
      <SealedResponses key={receipt.receiptHash} view={view} />
      <Section title={`Changes of state (${writeSet.length})`}>
        <WriteSetView changes={writeSet} />
        <StateLink index={index} />
      </Section>
      <Section title="Proof" isOpen={false}>
        <p class="mut">Its inclusion in the log up to the last note, for any verifier.</p>
        <button type="button" class="btn" onClick={() => saveProof(index)}>
          <Icon name="down" />
          Save the proof
        </button>
      </Section>
    </>
  )
}

function Beside(props: {
  readonly index: number
  readonly last: number
  readonly word: 'Older' | 'Newer'
}) {
  const { index, last, word } = props
  if (index < 0 || index > last) return null
  return (
    <a class="ib" href={linkTo('ledger', index)} aria-label={word} data-replace="">
      <Icon name={word === 'Older' ? 'older' : 'newer'} />
    </a>
  )
}

function Checks({ view, failure }: { view: ReceiptView; failure: Failure | undefined }) {
  const { index, receipt, problem, notChecked } = view
  const { report } = verification.value
  const damaged = report?.failure?.index
  const isVerified = report !== null && (damaged === undefined || index < damaged)
  return (
    <>
      {isVerified ? (
        <Check verdict="holds">signed, and follows its predecessor: verified</Check>
      ) : failure !== undefined ? (
        <Check verdict="broken">{damageText(failure)}</Check>
      ) : (
        <Check verdict="unknown">
          the chain before it was not verified yet:{' '}
          <button type="button" class="link" onClick={() => verify()}>
            verify it
          </button>{' '}
          <kbd class="hide-s">v</kbd>
        </Check>
      )}
      <SignatureCheck
        hash={receipt.receiptHash}
        identity={receipt.identity}
        check={() => checkReceipt(receipt)}
      />
      <LinkCheck index={index} receipt={receipt} />
      {problem === undefined ? <ResultHash receipt={view} /> : null}
      {problem === undefined ? null : <Check verdict="broken">{shownLine(problem)}</Check>}
      <NotChecked texts={notChecked} />
    </>
  )
}

function Fields({ view: { receipt } }: { readonly view: ReceiptView }) {
  const { capabilitiesUsed: used, capabilitiesDeclared: declared } = receipt
  const hash = (name: string, value: string | null) =>
    [name, <Hash key={name} hash={value} length={18} />] as const
  return (
    <Facts
      rows={[
        ['intent', shownLine(receipt.intent)],
        ['dappId', shownLine(receipt.dappId)],
        hash('inputHash', receipt.inputHash),
        hash('resultHash', receipt.resultHash),
        hash('previous', receipt.previousReceiptHash),
        hash('state before', receipt.previousStateRoot),
        hash('state after', receipt.nextStateRoot),
        [
          'capabilities',
          shownLine(
            declared.length === 0
              ? 'none'
              : `${used.join(', ') || 'none'} of ${declared.join(', ')}`
          )
        ],
        ['time', dayText(receipt.timestamp * 1000)],
        ['version', String(receipt.version)],
        hash('identity', receipt.identity),
        hash('publicKey', receipt.publicKey),
        hash('receiptHash', receipt.receiptHash),
        hash('signature', receipt.signature)
      ]}
    />
  )
}

/** Where in a run the unit was, as its signed input says. */
function Where({ view: { receipt } }: { readonly view: ReceiptView }) {
  const input: unknown = receipt.inputPayload
  const run = isObject(input as never) ? (input as { run?: unknown }).run : undefined
  if (!isObject(run as never)) return null
  const { runId, path, step, attempt } = run as Readonly<Record<string, unknown>>
  if (typeof runId !== 'string') return null
  return (
    <Section title="Where">
      <Facts
        rows={[
          [
            'run',
            <a key="run" class="link" href={linkTo('runs', runId)}>
              {shownId(runId)}
            </a>
          ],
          ['path', typeof path === 'string' ? shownPath(path) : ''],
          ['step', `${shownValue(step)}, attempt ${shownValue(attempt)}`]
        ]}
      />
    </Section>
  )
}

async function saveProof(index: number): Promise<void> {
  try {
    const found = await ask('log', { before: index + 2, limit: 50 })
    const leaf = found.items.find((line) => line.index === index)?.leaf ?? index
    saveFile(`receipt-${index}.proof.json`, JSON.stringify(await ask('proof', { leaf }), null, 2))
  } catch (thrown) {
    say(problemOf(thrown).message)
  }
}
