import { changes, status } from '../client/live.js'
import { useQuery } from '../client/query.js'
import { Banner } from '../parts/basics.js'
import { linkTo } from '../pure/addresses.js'
import { shownLine } from '../pure/shown-text.js'

/** Why nothing is written, and what ends that; nothing where the ledger is well. */
export function SafeMode() {
  const found = status.value
  const isSafe = found !== null && found.mode !== 'ready'
  const doctor = useQuery('doctor', isSafe ? {} : null, changes.value.mode)
  if (!isSafe) return null
  const { mode, causes, cause } = found
  const all = causes.length > 0 || cause === null ? causes : [cause]
  const failed = doctor.value?.checks.filter((check) => check.status === 'failed') ?? []
  const fixes = new Set(failed.flatMap(({ fix }) => fix ?? []))
  return (
    <Banner tone="failed" icon="alert" isAlert>
      <b>{mode === 'safe' ? 'Safe mode: nothing is written.' : `The ledger is ${mode}.`}</b>
      {all.map(({ code, message }) => (
        <div key={`${code} ${message}`}>
          <code>{shownLine(code)}</code> {shownLine(message)}
        </div>
      ))}
      {[...fixes].map((fix) => (
        <div key={fix}>{`To mend it: ${shownLine(fix)}`}</div>
      ))}
      <a class="btn" href={linkTo('health')}>
        See its health
      </a>
    </Banner>
  )
}

/** The same in two words, on every screen. */
export function SafeModeSign() {
  const found = status.value
  if (found === null || found.mode === 'ready') return null
  return (
    <a class="pill failed" href={linkTo('health')}>
      {found.mode === 'safe' ? 'safe mode' : found.mode}
    </a>
  )
}
