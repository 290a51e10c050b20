import type { WaitLine } from '../../../runtime/index.js'
import { ask } from '../client/api.js'
import { changes, now } from '../client/live.js'
import { usePages } from '../client/query.js'
import { Problem } from '../parts/basics.js'
import { moveRow, useKeys } from '../parts/keys.js'
import { Rows } from '../parts/rows.js'
import { linkTo } from '../pure/addresses.js'
import { questionOf } from '../pure/questions.js'
import { shownId, shownLine, shownPath } from '../pure/shown-text.js'
import { ageText, dueText } from '../pure/time-text.js'
import { WaitDetail } from './wait-detail.js'
import { isNarrow } from './width.js'

const PAGE_ROWS = 200

/** What waits for a person, oldest first, with its age, beside what is asked. */
export function Waits({ token }: { readonly token: string | undefined }) {
  const list = usePages('waits', changes.value.runs, (cursor, signal) =>
    ask('waits', { limit: PAGE_ROWS, ...(cursor === null ? {} : { cursor }) }, signal)
  )
  useKeys({ j: () => moveRow(1), k: () => moveRow(-1) })
  const waits = list.value ?? []
  const named = waits.find(({ wait }) => wait.token === token)
  const shown = named ?? (isNarrow.value || token !== undefined ? undefined : waits[0])
  if (list.problem !== null) return <Problem of={list.problem} />
  if (isNarrow.value && shown !== undefined) return <WaitDetail key={keyOf(shown)} line={shown} />
  return (
    <div class="wl">
      <Rows
        className="l"
        label="Open waits, oldest first"
        count={waits.length}
        rowHeight={64}
        more={list.more}
        empty={list.value === null ? null : <Nothing />}
        row={(index) => {
          const line = waits[index]
          return line === undefined ? null : (
            <Item key={keyOf(line)} line={line} isShown={line === shown} />
          )
        }}
      />
      {shown !== undefined ? (
        <WaitDetail key={keyOf(shown)} line={shown} />
      ) : token !== undefined && list.value !== null ? (
        <div class="wd">
          <h2>This wait is not open any more</h2>
          <p class="mut">It was answered, or ended by itself, or its run was cancelled.</p>
        </div>
      ) : null}
    </div>
  )
}

// A wait with another digest is another question: nothing that was typed stays.
const keyOf = ({ wait }: WaitLine) => `${wait.token} ${wait.digest}`

function Nothing() {
  return <div class="empty">Nothing waits for a person.</div>
}

function Item({ line, isShown }: { readonly line: WaitLine; readonly isShown: boolean }) {
  const { runId, since, due, wait } = line
  return (
    <a
      class="wi"
      href={linkTo('waits', wait.token)}
      aria-current={isShown ? 'true' : undefined}
      data-row="follow"
      data-replace=""
    >
      <span class="row">
        <b class="grow tr">{shownLine(questionOf(wait))}</b>
        <span class="dim num">{ageText(now.value - since)}</span>
      </span>
      <span class="row mut">
        <span class="tag">{shownLine(wait.reason)}</span>
        <span class="tr grow">{`${shownId(runId)}, ${shownPath(wait.path)}`}</span>
        {due === null ? null : <span>{`until ${dueText(due)}`}</span>}
      </span>
    </a>
  )
}
