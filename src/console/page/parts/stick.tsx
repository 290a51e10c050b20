import { useRef } from 'preact/hooks'

export interface Notch {
  /** Part of the stick's height, to 1. */
  readonly size: number
  readonly colour?: string
  readonly title: string
}

export interface StickProps {
  readonly count: number
  readonly notch: (index: number) => Notch
  readonly label: string
  readonly height: number
  /** Where one stands; what comes after it is pale. */
  readonly at?: number | undefined
  readonly onPick: (index: number) => void
  /** Notches up to here are verified. */
  readonly verifiedTo?: number
  /** The notch that is damaged. */
  readonly damagedAt?: number | null
}

const WIDTH = 1_000
/** Notches that can be told apart; of longer histories, each drawn one stands for several. */
const NOTCHES_MAX = 400

/**
 * The tally stick: a notch for each entry or receipt. It is scrubber, progress of verification and
 * place of damage, everywhere.
 */
export function Stick(props: StickProps) {
  const { count, height, at, label, onPick, damagedAt = null, verifiedTo = -1 } = props
  const drag = useRef(false)
  const last = Math.max(0, count - 1)
  const pick = (event: PointerEvent, element: Element) => {
    const { left, width } = element.getBoundingClientRect()
    const index = Math.floor(((event.clientX - left) / width) * count)
    onPick(Math.max(0, Math.min(last, index)))
  }
  const step = WIDTH / Math.max(count, 1)
  const seen = at === undefined ? WIDTH : (at + 1) * step
  return (
    <div
      class="stick"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at ?? last}
      aria-valuetext={count === 0 ? 'empty' : props.notch(at ?? last).title}
      onPointerDown={(event) => {
        drag.current = true
        event.currentTarget.setPointerCapture(event.pointerId)
        pick(event, event.currentTarget)
      }}
      onPointerMove={(event) => {
        if (drag.current) pick(event, event.currentTarget)
      }}
      onPointerUp={() => {
        drag.current = false
      }}
      onKeyDown={(event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1, Home: -count, End: count }[event.key]
        if (by === undefined) return
        event.preventDefault()
        onPick(Math.max(0, Math.min(last, (at ?? last) + by)))
      }}
    >
      <svg
        viewBox={`0 0 ${WIDTH} ${height}`}
        height={height}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <rect class="wood" y="3" width={WIDTH} height={height - 6} rx="2" />
        <rect class="seen" y="3" width={seen} height={height - 6} />
        <Notches {...props} verifiedTo={verifiedTo} damagedAt={damagedAt} step={step} />
        {at === undefined ? null : (
          <rect class="at" x={Math.max(0, (at + 0.5) * step - 1.5)} width="3" height={height} />
        )}
        {damagedAt === null ? null : (
          <rect class="damage" x={damagedAt * step} width={Math.max(4, step)} height={height} />
        )}
      </svg>
    </div>
  )
}

function Notches(
  props: StickProps & { step: number; verifiedTo: number; damagedAt: number | null }
) {
  const { count, notch, height, at, verifiedTo, damagedAt, step } = props
  const each = Math.max(1, Math.ceil(count / NOTCHES_MAX))
  const drawn = Array.from({ length: Math.ceil(count / each) }, (_, index) => index * each)
  return (
    <>
      {drawn.map((index) => {
        const { size, colour, title } = notch(index)
        const isAfterDamage = damagedAt !== null && index > damagedAt
        const fill = isAfterDamage
          ? 'var(--line2)'
          : index <= verifiedTo
            ? 'var(--done)'
            : (colour ?? 'var(--wood)')
        return (
          <rect
            key={index}
            x={(index + 0.2) * step}
            y="3"
            width={Math.max(1.2, Math.min(step * each * 0.6, 5))}
            height={(height - 6) * size}
            style={{ fill }}
            opacity={at !== undefined && index > at ? 0.35 : 1}
          >
            <title>{title}</title>
          </rect>
        )
      })}
    </>
  )
}
