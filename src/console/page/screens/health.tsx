import { Fragment } from 'preact'
import type { Json } from '../../../core/index.js'
import type { HealthCheck } from '../../../runtime/index.js'
import { ask } from '../client/api.js'
import { changes, status } from '../client/live.js'
import { usePages, useQuery } from '../client/query.js'
import { Banner, Check, Facts, Hash, Pill, Problem } from '../parts/basics.js'
import { Icon } from '../parts/icon.js'
import { linkTo } from '../pure/addresses.js'
import { countText, shownId, shownLine } from '../pure/shown-text.js'
import { isObject } from '../pure/widgets.js'

/** Whether the ledger is well: doctor, grants, quarantine, and whether it is safe to resume. */
export function Health() {
  const version = changes.value.mode
  const doctor = useQuery('doctor', {}, version)
  const found = status.value
  const checks = doctor.value?.checks ?? []
  const bad = checks.filter((check) => check.status !== 'ok')
  const good = checks.filter((check) => check.status === 'ok')
  return (
    <div class="wd">
      {found === null ? null : (
        <div class="row mut wrap">
          <Pill status={found.mode === 'ready' ? 'done' : 'failed'} text={shownLine(found.mode)} />
          <span>{`${countText(found.receipts, 'receipt')}, epoch ${found.epoch}`}</span>
          <code class="tr">{shownLine(found.location)}</code>
        </div>
      )}
      <h2>{headline(found?.mode, checks.length, bad.length)}</h2>
      <Causes />
      {doctor.problem === null ? null : <Problem of={doctor.problem} />}
      {[...bad, ...good].map((check) => (
        <Row key={check.name} check={check} />
      ))}
      <Resumable version={version} />
      <Grants version={version} />
    </div>
  )
}

function headline(mode: string | undefined, checks: number, bad: number): string {
  if (mode === undefined || checks === 0) return 'Health'
  if (mode !== 'ready') return 'Safe mode: nothing is written'
  return bad === 0 ? 'Ready' : `Ready, with ${bad} ${bad === 1 ? 'thing' : 'things'} to mend`
}

/** Why the ledger is in safe mode, and what could not be checked when it was opened. */
function Causes() {
  const found = status.value
  if (found === null) return null
  return (
    <>
      {found.causes.map(({ code, message }) => (
        <Banner key={`${code} ${message}`} tone="failed" icon="alert">
          <b>{shownLine(code)}</b> {shownLine(message)}
        </Banner>
      ))}
      {found.warnings.map((text) => (
        <Check key={text} verdict="unknown">
          {shownLine(text)}
        </Check>
      ))}
    </>
  )
}

const words = { ok: 'holds', warning: 'to mend', failed: 'failed' } as const

function Row({ check: { name, status: state, message, fix } }: { readonly check: HealthCheck }) {
  const tone = { ok: 'done', warning: 'waiting', failed: 'failed' }[state]
  return (
    <div class="card health">
      <span class={`ink ${tone}`}>
        <Icon name={state === 'ok' ? 'done' : 'alert'} />
        <span class="sr">{words[state]}</span>
      </span>
      <div>
        <b>{shownLine(name)}</b>
        <div>{shownLine(message)}</div>
        {fix === null ? null : <div class="mut">{shownLine(fix)}</div>}
      </div>
    </div>
  )
}

function Resumable({ version }: { readonly version: number }) {
  const { value, problem } = useQuery('resumable', {}, version)
  if (problem !== null) return <Problem of={problem} />
  if (value === null) return null
  const { runs, quarantined } = value
  return (
    <section class="card">
      <h3>Is it safe to resume?</h3>
      {runs.length === 0 && quarantined.length === 0 ? (
        <p class="mut">Nothing is left to resume.</p>
      ) : null}
      {quarantined.map((mark) => (
        <Fragment key={mark.run}>
          <a class="link" href={linkTo('runs', mark.run)}>
            {shownId(mark.run)}
          </a>
          <Facts
            rows={[
              ['quarantined', mark.isReleased ? 'released' : 'performs nothing'],
              ['differs', shownLine(mark.field)],
              ['code', shownLine(mark.provider ?? 'its chart')],
              ['receipt', <Hash key="receipt" hash={mark.receipt} />]
            ]}
          />
        </Fragment>
      ))}
      {runs.slice(0, RUNS_DRAWN).map((run, place) => (
        <ToResume key={place} run={run} />
      ))}
      {runs.length > RUNS_DRAWN ? (
        <p class="mut">{`and ${runs.length - RUNS_DRAWN} runs more`}</p>
      ) : null}
    </section>
  )
}

const RUNS_DRAWN = 200

/** One open run: whether it can continue with the code that is here, and what is missing. */
function ToResume({ run }: { readonly run: Json }) {
  if (!isObject(run)) return null
  const { id, ready, missing, problem } = run
  const why = [...(Array.isArray(missing) ? missing : []), problem].filter(
    (text) => typeof text === 'string'
  )
  return (
    <Check verdict={ready === true ? 'holds' : ready === false ? 'broken' : 'unknown'}>
      <a class="link" href={linkTo('runs', String(id))}>
        {shownId(String(id))}
      </a>
      {ready === true
        ? ': every block has the version that it began with'
        : ready === false
          ? `: no, ${shownLine(why.join(', '))}`
          : ': nothing says so, since no code is here'}
    </Check>
  )
}

function Grants({ version }: { readonly version: number }) {
  const { value, problem } = usePages('grants', version, (cursor, signal) =>
    ask('grants', { limit: 100, ...(cursor === null ? {} : { cursor }) }, signal)
  )
  if (problem !== null) return <Problem of={problem} />
  if (value === null) return null
  return (
    <section class="card">
      <h3>Rights that were granted</h3>
      {value.length === 0 ? <p class="mut">None: only the owner acts.</p> : null}
      <ul class="grants">
        {value.map(({ to, capability, by, codeHash }) => (
          <li key={`${to.kind} ${to.id} ${capability}`}>
            <span class="tag">{shownLine(capability)}</span>
            <span>{shownLine(`${to.kind} ${to.id}`)}</span>
            <span class="mut">{shownLine(`by ${by}`)}</span>
            {codeHash === null ? null : <Hash hash={codeHash} length={10} />}
          </li>
        ))}
      </ul>
    </section>
  )
}
