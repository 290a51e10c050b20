import { useEffect, useState } from 'preact/hooks'
import { after, prefersStillness } from '../client/browser.js'
import { shownText } from '../pure/shown-text.js'

const TICK_MS = 60
const PLAYED_MS_MAX = 8_000
const titleOfPlaying =
  'At an even pace, for as long as the turn took, 8 s at most: when each part came is not recorded'

/** What an agent says while it arrives, or has said. */
export function SaidText(props: {
  readonly text: string
  /** What has arrived of it; undefined: all. */
  readonly arriving: string | undefined
  readonly tookMs: number
}) {
  const { text, arriving, tookMs } = props
  const [length, setLength] = useState<number | null>(null)
  useEffect(() => {
    if (length === null) return
    if (length >= text.length) return setLength(null)
    const ticks = Math.max(1, Math.min(tookMs, PLAYED_MS_MAX) / TICK_MS)
    return after(TICK_MS, () => setLength(length + Math.ceil(text.length / ticks)))
  }, [length])
  const part = arriving ?? (length === null ? undefined : text.slice(0, length))
  const mayPlay = arriving === undefined && text !== '' && !prefersStillness()
  return (
    <>
      <div class="say">
        {shownText(part ?? text)}
        {part === undefined ? null : <span class="car" />}
      </div>
      {mayPlay ? (
        <button
          type="button"
          class="btn"
          title={titleOfPlaying}
          onClick={() => setLength(length === null ? 0 : null)}
        >
          {length === null ? 'Play as it arrived' : 'Show all'}
        </button>
      ) : null}
    </>
  )
}
