import type { Json } from '../../../core/index.js'
import type { LogLine } from '../../../runtime/index.js'
import { saveFile } from '../client/browser.js'
import { useQuery } from '../client/query.js'
import { Facts, Hash, Pill, Problem, Section } from '../parts/basics.js'
import { Icon } from '../parts/icon.js'
import { JsonView } from '../parts/json-view.js'
import { linkTo } from '../pure/addresses.js'
import { checkEvidence } from '../pure/receipt-check.js'
import { shownId, shownLine, shownValue } from '../pure/shown-text.js'
import { dayText } from '../pure/time-text.js'
import { isObject } from '../pure/widgets.js'
import { SignatureCheck } from './record-checks.js'

/** Signed evidence: what failed, was denied or rolled back, and what was done outside by then. */
export function EvidencePanel({ leaf }: { readonly leaf: number }) {
  const { value: proof, problem } = useQuery('proof', { leaf })
  const { value: page } = useQuery('log', { from: leaf, before: leaf + 1, limit: 1 })
  if (problem !== null) return <Problem of={problem} />
  if (proof === null) return null
  const record = recordIn(proof.record)
  if (record === null) return <div class="empty">Log record {leaf} is no evidence.</div>
  const [line] = page?.items ?? []
  const { details = null, landed = [], evidenceHash } = record
  const hash = String(evidenceHash)
  return (
    <>
      <div class="ih">
        <div class="row">
          <h2>{`Evidence, log record ${leaf}`}</h2>
          <Pill status="failed" text={shownValue(record['type'])} />
        </div>
        <div class="mut">Signed and in the log; no receipt of the chain</div>
      </div>
      <Section title="Checks">
        <SignatureCheck
          hash={hash}
          identity={String(record['identity'])}
          check={() => checkEvidence(record)}
        />
      </Section>
      <Section title="What happened">
        <About record={record} line={line} />
        <JsonView value={details} label="Details" />
      </Section>
      {Array.isArray(landed) && landed.length > 0 ? (
        <Section title={`Done outside all the same (${landed.length})`}>
          <JsonView value={landed} label="Done outside all the same" />
        </Section>
      ) : null}
      <Section title="Input" isOpen={false}>
        <JsonView value={inputOf(record)} label="Input" />
      </Section>
      <Section title="Signed by">
        <Facts
          rows={[
            hashRow('identity', record['identity']),
            hashRow('publicKey', record['publicKey']),
            hashRow('evidenceHash', evidenceHash),
            hashRow('journalHash', record['journalHash']),
            hashRow('signature', record['signature'])
          ]}
        />
      </Section>
      <Section title="Proof" isOpen={false}>
        <p class="mut">Its inclusion in the log up to the last note, for any verifier.</p>
        <button
          type="button"
          class="btn"
          onClick={() => saveFile(`log-${leaf}.proof.json`, JSON.stringify(proof, null, 2))}
        >
          <Icon name="down" />
          Save the proof
        </button>
      </Section>
    </>
  )
}

type Evidence = Readonly<Record<string, Json>>

function recordIn(text: string): Evidence | null {
  try {
    const record: Json = JSON.parse(text)
    return isObject(record) && 'evidenceHash' in record ? record : null
  } catch {
    return null
  }
}

function About({ record, line }: { record: Evidence; line: LogLine | undefined }) {
  const { code, head, timestamp, inputPayload } = record
  const runId = line?.runId ?? null
  const before = isObject(head) ? Number(head['seq']) : 0
  const action = isObject(inputPayload) ? inputPayload['action'] : undefined
  return (
    <Facts
      rows={[
        [
          'reason',
          <b key="reason" class="failed ink">
            {shownValue(code)}
          </b>
        ],
        ['of', shownValue(action)],
        runId === null
          ? null
          : [
              'run',
              <a key="run" class="link" href={linkTo('runs', runId)}>
                {shownId(runId)}
              </a>
            ],
        line === undefined ? null : ['by', shownLine(line.by)],
        ['time', dayText(Number(timestamp) * 1_000)],
        before > 0
          ? [
              'after',
              <a key="after" class="link" href={linkTo('ledger', before - 1)}>
                {`receipt ${before - 1}`}
              </a>
            ]
          : ['after', 'no receipt']
      ]}
    />
  )
}

function hashRow(name: string, value: Json | undefined) {
  return typeof value === 'string'
    ? ([name, <Hash key={name} hash={value} length={18} />] as const)
    : null
}

function inputOf({ inputPayload }: Evidence): Json {
  return isObject(inputPayload) ? (inputPayload['payload'] ?? null) : null
}
