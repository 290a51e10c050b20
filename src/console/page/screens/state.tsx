import type { StateLine } from '../../../runtime/index.js'
import { ask } from '../client/api.js'
import { after, saveFile } from '../client/browser.js'
import { changes, status } from '../client/live.js'
import { address, choose, go } from '../client/navigation.js'
import { type Paged, problemOf, usePages, useQuery } from '../client/query.js'
import { Problem, Section, say } from '../parts/basics.js'
import { Icon } from '../parts/icon.js'
import { JsonView } from '../parts/json-view.js'
import { moveRow, useKeys } from '../parts/keys.js'
import { Rows } from '../parts/rows.js'
import { Stick } from '../parts/stick.js'
import { addressText, linkTo } from '../pure/addresses.js'
import { shownId, shownLine, shownValue } from '../pure/shown-text.js'
import { clockText } from '../pure/time-text.js'
import { isNarrow } from './width.js'
import { WriteSetView } from './write-set.js'

const PAGE_ROWS = 200
const PREFIX = 'prefix-of-keys'
const TYPING_MS = 150
let endTyping = () => {}

/** Address of a key, as of the receipt that is looked at. */
function keyLink(key: string | undefined): string {
  const { query } = address.value
  return addressText({ screen: 'state', id: key, query })
}

/** Keys as of any receipt, the history of one, and its proof. */
export function State({ stateKey }: { readonly stateKey: string | undefined }) {
  const version = changes.value.log
  const { value: now } = useQuery('status', {}, version)
  const last = (now ?? status.value)?.receipts ?? 0
  const asOf = asOfAsked(last)
  const list = useKeysAsOf(asOf, asOf === null ? version : 0)
  const at = asOf ?? last - 1
  useStateKeys(at, last)
  const lines = list.value ?? []
  const chosen = stateKey ?? (isNarrow.value ? undefined : lines[0]?.key)
  const line = lines.find(({ key }) => key === chosen)
  const detail =
    chosen === undefined ? null : (
      <KeyPanel key={chosen} stateKey={chosen} line={line} asOf={asOf} />
    )
  if (isNarrow.value && chosen !== undefined) {
    return (
      <div class="insp alone">
        <div class="bar">
          <a class="btn" href={keyLink(undefined)}>
            All keys
          </a>
        </div>
        {detail}
      </div>
    )
  }
  return (
    <div class="split">
      <div class="l">
        <Top last={last} at={at} line={line} />
        {list.problem === null ? null : <Problem of={list.problem} />}
        <Rows
          className="tbl keysof"
          label="Keys"
          count={lines.length}
          rowHeight={isNarrow.value ? 48 : 34}
          chosen={lines.findIndex(({ key }) => key === chosen)}
          more={list.more}
          head={<Head count={lines.length} isWhole={list.isWhole} />}
          empty={list.value === null ? null : <Nothing />}
          row={(place) => {
            const found = lines[place]
            if (found === undefined) return null
            return <KeyRow key={found.key} line={found} isChosen={found.key === chosen} at={at} />
          }}
        />
      </div>
      <aside class="insp hide-s" aria-label="Detail">
        {detail}
      </aside>
    </div>
  )
}

function Nothing() {
  const { prefix = '' } = address.value.query
  const text = prefix === '' ? 'No key has a value here.' : 'No key begins like this.'
  return <div class="empty">{text}</div>
}

/** The receipt that the address names, or null: the last, which moves. */
function asOfAsked(last: number): number | null {
  const asked = Number(address.value.query['asOf'] ?? Number.NaN)
  return Number.isInteger(asked) && asked < last - 1 ? Math.max(0, asked) : null
}

function useKeysAsOf(asOf: number | null, version: number): Paged<StateLine> {
  const prefix = address.value.query['prefix'] ?? ''
  return usePages(JSON.stringify({ asOf, prefix }), version, (cursor, signal) =>
    ask(
      'state',
      {
        limit: PAGE_ROWS,
        ...(asOf === null ? {} : { asOf }),
        ...(prefix === '' ? {} : { prefix }),
        ...(cursor === null ? {} : { cursor })
      },
      signal
    )
  )
}

function standAt(index: number, last: number): void {
  choose({ asOf: index >= last - 1 ? null : Math.max(0, index) })
}

function useStateKeys(at: number, last: number): void {
  useKeys({
    '[': () => standAt(at - 1, last),
    ']': () => standAt(at + 1, last),
    '{': () => standAt(0, last),
    '}': () => standAt(last, last),
    '/': () => document.getElementById(PREFIX)?.focus(),
    j: () => moveRow(1),
    k: () => moveRow(-1),
    Escape: () => go(linkTo('state'))
  })
}

function Top(props: {
  readonly last: number
  readonly at: number
  readonly line: StateLine | undefined
}) {
  const { last, at, line } = props
  return (
    <div class="woodbar">
      <div class="row wrap">
        <h2>{last === 0 ? 'State' : `State as of receipt ${at}`}</h2>
        <div class="grow" />
        <Prefix text={address.value.query['prefix'] ?? ''} />
      </div>
      <Stick
        count={last}
        at={last === 0 ? undefined : at}
        height={40}
        label="Receipt that the state is shown as of"
        onPick={(index) => standAt(index, last)}
        notch={(index) => ({
          size: index === line?.index ? 1 : 0.5,
          ...(index === line?.index ? { colour: 'var(--busy)' } : {}),
          title: `#${index}`
        })}
      />
    </div>
  )
}

function Prefix({ text }: { readonly text: string }) {
  return (
    <input
      class="inp filter"
      id={PREFIX}
      placeholder="keys that begin with …"
      aria-label="Prefix of keys"
      value={text}
      onInput={({ currentTarget: { value } }) => {
        endTyping()
        endTyping = after(TYPING_MS, () => choose({ prefix: value === '' ? null : value }))
      }}
    />
  )
}

function Head({ count, isWhole }: { readonly count: number; readonly isWhole: boolean }) {
  return (
    <div class="th" aria-hidden="true">
      <span>{`Key (${count}${isWhole ? '' : ' and more'})`}</span>
      <span>Value</span>
      <span>Set by</span>
    </div>
  )
}

function KeyRow(props: {
  readonly line: StateLine
  readonly isChosen: boolean
  readonly at: number
}) {
  const { line, isChosen, at } = props
  return (
    <a
      class="trow"
      href={keyLink(line.key)}
      aria-current={isChosen ? 'true' : undefined}
      data-row="follow"
      data-replace=""
    >
      <span class="tr">
        {line.index === at ? <span class="pill running">changed here</span> : null}
        <code>{shownLine(line.key)}</code>
      </span>
      <code class="tr mut c-value">{shownValue(line.value, 80)}</code>
      <span class="r num dim">{line.index === null ? 'archived' : `#${line.index}`}</span>
    </a>
  )
}

const HISTORY_ROWS = 20

function setBy({ index }: StateLine): string {
  return index === null ? 'set by a receipt that is archived' : `set by receipt ${index}`
}

function KeyPanel(props: {
  readonly stateKey: string
  readonly line: StateLine | undefined
  readonly asOf: number | null
}) {
  const { stateKey, line, asOf } = props
  const version = changes.value.log
  const { value: history, problem } = useQuery(
    'stateHistory',
    { key: stateKey, limit: HISTORY_ROWS },
    version
  )
  return (
    <>
      <div class="ih">
        <h2 class="wrapped">{shownLine(stateKey)}</h2>
        <div class="mut">
          {line === undefined
            ? 'not in the list as of here: its absence can be proved, too'
            : setBy(line)}
        </div>
      </div>
      {line === undefined ? null : (
        <Section title="Value">
          <JsonView value={line.value} label="Value" />
        </Section>
      )}
      {problem === null ? null : <Problem of={problem} />}
      {history === null ? null : (
        <Section
          title={`History (${history.items.length}${history.next === null ? '' : ' and more'})`}
        >
          {history.items.map((change) => (
            <div class="change" key={change.receiptHash}>
              <div class="row">
                <a class="link" href={linkTo('ledger', change.index)}>{`#${change.index}`}</a>
                <span class="mut tr grow">
                  {change.runId === null ? '' : shownId(change.runId)}
                </span>
                <span class="dim num">{clockText(change.at)}</span>
              </div>
              <WriteSetView
                changes={[
                  {
                    key: stateKey,
                    ...(change.before === null ? {} : { before: change.before }),
                    ...(change.removed ? {} : { after: change.after })
                  }
                ]}
              />
            </div>
          ))}
        </Section>
      )}
      <Section title="Proof">
        <p class="mut">
          An ICS-23 proof that this key has this value, or none, under the state root of this
          receipt.
        </p>
        <button type="button" class="btn" onClick={() => saveProof(stateKey, asOf)}>
          <Icon name="down" />
          Save the proof
        </button>
      </Section>
    </>
  )
}

async function saveProof(key: string, asOf: number | null): Promise<void> {
  try {
    const proof = await ask('stateProof', { key, ...(asOf === null ? {} : { asOf }) })
    saveFile('state.proof.json', JSON.stringify(proof, null, 2))
  } catch (thrown) {
    say(problemOf(thrown).message)
  }
}
