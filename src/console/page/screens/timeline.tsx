import { address, choose } from '../client/navigation.js'
import { Icon } from '../parts/icon.js'
import { Rows } from '../parts/rows.js'
import { Stick } from '../parts/stick.js'
import { linkTo } from '../pure/addresses.js'
import { entryText, laneOf, type Mark, marksOf, notchOf } from '../pure/lanes.js'
import { type RunStep, stepName } from '../pure/run-steps.js'
import { shownLine, shownPath } from '../pure/shown-text.js'
import { clockText, preciseText, tookText } from '../pure/time-text.js'
import { chooseStep, type RunShown, standAt, tookMs } from './run-shown.js'
import { isNarrow } from './width.js'

/** Place on the line of an entry, in percent. */
type PlaceOf = (entry: number) => number

/** Steps as bars, by entry or by time, below the stick that is dragged through the run. */
export function Timeline({ shown }: { readonly shown: RunShown }) {
  const { journal, at, past, chosen } = shown
  const isByTime = address.value.query['axis'] === 'time'
  const row = journal[at]
  const placeOf = placesOf(shown, isByTime)
  const marks = marksOf(journal)
  const { steps } = past
  return (
    <section class="tl" aria-label="Timeline">
      <div class="hd">
        <h2>Timeline</h2>
        <span class="tr mut grow">
          {row === undefined
            ? ''
            : `${at}  ${shownLine(entryText(row))}  ${preciseText(row.entry.at)}`}
        </span>
        <Axis label="by entry" isOn={!isByTime} value={null} />
        <Axis label="by time" isOn={isByTime} value="time" />
      </div>
      <div class="stickline">
        <Stick
          count={journal.length}
          at={at}
          height={isNarrow.value ? 44 : 30}
          label="Entry of the journal that the run is shown after"
          onPick={(entry) => standAt(shown, entry)}
          notch={(index) => {
            const found = journal[index]
            if (found === undefined) return { size: 0, title: '' }
            const title = `${index} ${shownLine(entryText(found))} ${clockText(found.entry.at)}`
            return { ...notchOf(found), title }
          }}
        />
      </div>
      <Rows
        className="tg"
        label="Steps"
        count={steps.length}
        rowHeight={isNarrow.value ? 34 : 25}
        chosen={chosen === null ? -1 : steps.indexOf(chosen)}
        row={(index) => {
          const step = steps[index]
          if (step === undefined) return null
          const props = { shown, step, placeOf, marks }
          return <StepRow key={stepName(step)} {...props} />
        }}
      />
    </section>
  )
}

function Axis(props: {
  readonly label: string
  readonly isOn: boolean
  readonly value: string | null
}) {
  const { label, isOn, value } = props
  return (
    <button
      type="button"
      class="chip hide-s"
      aria-pressed={isOn}
      onClick={() => choose({ axis: value })}
    >
      {label}
    </button>
  )
}

function placesOf({ journal, run }: RunShown, isByTime: boolean): PlaceOf {
  if (!isByTime) return (entry) => ((entry + 0.5) / journal.length) * 100
  const start = run.startedAt
  const length = Math.max(1, run.updatedAt - start)
  const timeOf = (entry: number) => journal[Math.floor(entry)]?.entry.at ?? run.updatedAt
  return (entry) => Math.max(0, Math.min(100, ((timeOf(entry) - start) / length) * 100))
}

interface StepRowProps {
  readonly shown: RunShown
  readonly step: RunStep
  readonly placeOf: PlaceOf
  readonly marks: readonly Mark[]
}

const barClasses = {
  busy: 'seg running',
  waiting: 'seg w',
  backoff: 'seg rt',
  done: 'seg done',
  failed: 'seg f'
} as const

function StepRow({ shown, step, placeOf, marks }: StepRowProps) {
  const { journal, at, chosen } = shown
  const { bars, ticks } = laneOf(journal, step, at)
  return (
    <div class={step.isFuture ? 'tr1 fut' : 'tr1'} data-chosen={step === chosen ? '' : undefined}>
      <button
        type="button"
        class="lb"
        aria-pressed={step === chosen}
        onClick={() => chooseStep(step)}
      >
        <span class="ix">{step.step}</span>
        <span class={`ink ${step.state}`} title={step.state}>
          <Icon name={step.state} />
        </span>
        <span class="sr">{step.state}</span>
        <span class="tr">{shownPath(step.path)}</span>
        {step.attempts > 1 ? <span class="tag">{`${step.attempts} tries`}</span> : null}
      </button>
      <div class="lane" aria-hidden="true">
        {marks.map((mark) => (
          <div
            key={mark.entry}
            class={mark.kind === 'crash' ? 'mk up' : 'mk'}
            style={{ left: `${placeOf(mark.entry)}%` }}
            title={mark.kind === 'crash' ? 'its process was gone; resumed here' : 'parked'}
          />
        ))}
        {bars.map((bar) => (
          <div
            key={bar.to}
            class={barClasses[bar.kind]}
            title={shownLine(bar.title)}
            style={{
              left: `${placeOf(bar.from)}%`,
              width: `${Math.max(0.5, placeOf(bar.to) - placeOf(bar.from))}%`
            }}
          />
        ))}
        {ticks.map((tick) => (
          <div
            key={tick.entry}
            class={`ev ${tick.kind}`}
            title={shownLine(tick.title)}
            style={{ left: `calc(${placeOf(tick.entry)}% - 1.5px)` }}
          />
        ))}
        <div class="now" style={{ left: `${placeOf(at)}%` }} />
      </div>
      <div class="ends">
        {step.receiptHash === null ? null : (
          <a class="hide-s mut" href={linkTo('ledger', step.receiptHash)} title="its receipt">
            {step.receiptHash.slice(0, 6)}
          </a>
        )}
        <span class="num dim">{tookText(tookMs(shown, step))}</span>
      </div>
    </div>
  )
}
