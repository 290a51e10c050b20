import type { LogLine } from '../../../runtime/index.js'
import { ask } from '../client/api.js'
import { changes, status } from '../client/live.js'
import { address, go } from '../client/navigation.js'
import { usePages, useQuery } from '../client/query.js'
import { Problem } from '../parts/basics.js'
import { moveRow, useKeys } from '../parts/keys.js'
import { Rows } from '../parts/rows.js'
import { Stick } from '../parts/stick.js'
import { addressText, linkTo } from '../pure/addresses.js'
import { shownId, shownLine, shownPath } from '../pure/shown-text.js'
import { clockText, dayText } from '../pure/time-text.js'
import { EvidencePanel } from './evidence-panel.js'
import { NotePanel } from './note-panel.js'
import { ReceiptPanel } from './receipt-panel.js'
import { verification, verify } from './verification.js'
import { Verdict } from './verification-verdict.js'
import { isNarrow } from './width.js'

const PAGE_ROWS = 200

/** The chain, newest first, its verification, and the damage at its receipt. */
export function Ledger({ which }: { readonly which: string | undefined }) {
  const version = changes.value.log
  const { value: now } = useQuery('status', {}, version)
  const list = usePages('log', version, async (cursor, signal) => {
    const before = cursor === null ? {} : { before: Number(cursor) }
    const { items, next } = await ask('log', { limit: PAGE_ROWS, ...before }, signal)
    const last = items.at(-1)
    return { items, next: next === null || last === undefined ? null : String(last.leaf) }
  })
  const asked = which === undefined ? null : placeAsked(which)
  const leaf = asked === null ? leafAsked() : null
  const { value: receipt, problem } = useQuery('receipt', asked)
  const receipts = now?.receipts ?? status.value?.receipts ?? 0
  const chosen = asked?.index ?? receipt?.index
  useLedgerKeys(receipts, chosen)
  const detail =
    leaf !== null ? (
      <EvidencePanel key={leaf} leaf={leaf} />
    ) : problem !== null ? (
      <Problem of={problem} />
    ) : receipt === null ? null : (
      <ReceiptPanel view={receipt} />
    )
  if (isNarrow.value && (which !== undefined || leaf !== null)) {
    return (
      <div class="insp alone">
        <div class="bar">
          <a class="btn" href={linkTo('ledger')}>
            All receipts
          </a>
        </div>
        {detail}
      </div>
    )
  }
  const lines = list.value ?? []
  return (
    <div class="split">
      <div class="l">
        <Top receipts={receipts} chosen={chosen} lines={list.value} />
        <Verdict />
        {list.problem === null ? null : <Problem of={list.problem} />}
        <Rows
          className="tbl log"
          label="Receipts and evidence, newest first"
          count={lines.length}
          rowHeight={isNarrow.value ? 48 : 34}
          chosen={lines.findIndex((line) => line.leaf === leaf || isChosen(line, chosen))}
          more={list.more}
          head={<Head />}
          empty={list.value === null ? null : <Nothing />}
          row={(place) => {
            const line = lines[place]
            if (line === undefined) return null
            const isShown = line.leaf === leaf || isChosen(line, chosen)
            return <Line key={line.leaf} line={line} isChosen={isShown} />
          }}
        />
      </div>
      <aside class="insp hide-s" aria-label="Detail">
        {detail ?? <NotePanel />}
      </aside>
    </div>
  )
}

function Nothing() {
  return <div class="empty">Nothing was signed yet: a step that succeeds leaves a receipt.</div>
}

function useLedgerKeys(receipts: number, chosen: number | undefined): void {
  const step = (by: 1 | -1) => () => {
    const from = chosen ?? (by > 0 ? -1 : receipts)
    go(linkTo('ledger', Math.max(0, Math.min(receipts - 1, from + by))), true)
  }
  useKeys({
    v: () => verify(),
    '[': step(-1),
    ']': step(1),
    '{': () => go(linkTo('ledger', 0), true),
    '}': () => go(linkTo('ledger', receipts - 1), true),
    j: () => moveRow(1),
    k: () => moveRow(-1),
    Escape: () => go(linkTo('ledger'))
  })
}

const isChosen = ({ index }: LogLine, chosen: number | undefined) =>
  index !== null && index === chosen

/** The log record that the address names: evidence has no place in the chain. */
function leafAsked(): number | null {
  const text = address.value.query['leaf'] ?? ''
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}

const leafLink = (leaf: number) =>
  addressText({ screen: 'ledger', id: undefined, query: { leaf: String(leaf) } })

function placeAsked(which: string): { readonly index?: number; readonly hash?: string } {
  return /^\d{1,15}$/.test(which) ? { index: Number(which) } : { hash: which }
}

function Top(props: {
  readonly receipts: number
  readonly chosen: number | undefined
  /** Null: they are not here yet. */
  readonly lines: readonly LogLine[] | null
}) {
  const { receipts, chosen } = props
  const lines = props.lines ?? []
  const { isRunning, progress, report } = verification.value
  const known = new Map(lines.map((line) => [line.index, line]))
  const damaged = report?.failure?.index ?? null
  const verified = damaged ?? (report !== null ? receipts : (progress?.done ?? 0))
  const counted = progress === null ? '' : `${progress.done} of ${progress.total}`
  return (
    <div class="woodbar">
      <div class="row wrap">
        <dl class="stats grow">
          <Stat value={String(receipts)} name="receipts" />
          <Stat
            value={props.lines === null ? '…' : String((lines[0]?.leaf ?? -1) + 1)}
            name="log records"
          />
          <Stat
            value={report === null ? 'not yet' : String(report.anchored.upTo)}
            name="anchored"
          />
          <Stat value={String(status.value?.epoch ?? '')} name="epoch" />
        </dl>
        <button type="button" class="btn pri verify" disabled={isRunning} onClick={() => verify()}>
          {isRunning ? counted || 'Verifying …' : 'Verify'}
          <kbd class="hide-s">v</kbd>
        </button>
      </div>
      <Stick
        count={receipts}
        at={chosen}
        height={46}
        label="Receipts, oldest first"
        verifiedTo={verified - 1}
        damagedAt={damaged !== null && damaged < receipts ? damaged : null}
        onPick={(index) => go(linkTo('ledger', index), true)}
        notch={(index) => {
          const line = known.get(index)
          const isEnd = line?.action === 'run.completed'
          return { size: isEnd ? 1 : 0.5, title: `#${index} ${shownLine(line?.action ?? '')}` }
        }}
      />
    </div>
  )
}

function Stat({ value, name }: { readonly value: string; readonly name: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function Head() {
  return (
    <div class="th" aria-hidden="true">
      {['#', 'Receipt', 'What', 'Run', 'By', 'Time'].map((name) => (
        <span key={name}>{name}</span>
      ))}
    </div>
  )
}

function Line({ line, isChosen }: { readonly line: LogLine; readonly isChosen: boolean }) {
  const { index, kind, hash, action, runId, path, by, at, problem } = line
  const damaged = verification.value.report?.failure?.index
  const look =
    damaged === undefined || index === null || index < damaged
      ? ''
      : index === damaged
        ? ' brk'
        : ' aft'
  const cells = (
    <>
      <span class="r num dim">{index ?? ''}</span>
      {kind === 'evidence' ? <span class="tag">evidence</span> : <code>{hash.slice(0, 10)}</code>}
      <span class={problem === undefined ? 'tr' : 'tr failed ink'}>
        {shownLine(problem === undefined ? action : `${action}: ${problem}`)}
      </span>
      <span class="tr mut c-run">
        {runId === null ? '' : `${shownId(runId)}  ${path === null ? '' : shownPath(path)}`}
      </span>
      <span class="tr mut c-by">{shownLine(by)}</span>
      <span class="num mut" title={dayText(at)}>
        {clockText(at)}
      </span>
    </>
  )
  return (
    <a
      class={`trow${look}`}
      href={index === null ? leafLink(line.leaf) : linkTo('ledger', index)}
      aria-current={isChosen ? 'true' : undefined}
      data-row="follow"
      data-replace=""
    >
      {cells}
    </a>
  )
}
