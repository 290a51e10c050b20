import type { WriteSet } from '../../../ledger/index.js'
import { linkTo } from '../pure/addresses.js'
import { shownLine, shownValue } from '../pure/shown-text.js'

/** Changed keys that are drawn; a unit may change many. */
const CHANGES_DRAWN = 100
const VALUE_LENGTH = 600

/** What a unit changed: before and after, by key. */
export function WriteSetView({ changes }: { readonly changes: WriteSet }) {
  return (
    <>
      {changes.slice(0, CHANGES_DRAWN).map(({ key, before, after }) => (
        <div class="dif" key={key}>
          <b>
            <a href={linkTo('state', key)}>{shownLine(key)}</a>
          </b>
          {before === undefined ? null : (
            <div class="m">{`- ${shownValue(before, VALUE_LENGTH)}`}</div>
          )}
          {after === undefined ? (
            <div class="m">removed</div>
          ) : (
            <div class="p">{`+ ${shownValue(after, VALUE_LENGTH)}`}</div>
          )}
        </div>
      ))}
      {changes.length > CHANGES_DRAWN ? (
        <p class="mut">{`and ${changes.length - CHANGES_DRAWN} keys more`}</p>
      ) : null}
    </>
  )
}
