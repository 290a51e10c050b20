import type { QueuedLine, QueueLine, ScheduleLine } from '../../../runtime/index.js'
import { changes, now } from '../client/live.js'
import { useQuery } from '../client/query.js'
import { Banner, Command, Facts, Pill, Problem } from '../parts/basics.js'
import { moveRow, useKeys } from '../parts/keys.js'
import { linkTo } from '../pure/addresses.js'
import { queueCommand, scheduleCommand } from '../pure/commands.js'
import { shownId, shownLine, shownPath } from '../pure/shown-text.js'
import { ageText, dayText } from '../pure/time-text.js'
import { limitsText, whenText } from '../pure/work-text.js'

const TIMES_SHOWN = 3
const WORK_DRAWN = 50

/** What is to be done: what has its turn in queues or waits for it, and what begins by time. */
export function Work() {
  const version = changes.value.runs
  const queues = useQuery('queues', {}, version)
  const schedules = useQuery('schedules', { times: TIMES_SHOWN }, version)
  useKeys({ j: () => moveRow(1), k: () => moveRow(-1) })
  return (
    <div class="wd">
      <h2>Queues</h2>
      {queues.problem === null ? null : <Problem of={queues.problem} />}
      {queues.value?.queues.length === 0 ? <p class="mut">Nothing was put in a queue.</p> : null}
      {queues.value?.queues.map((queue) => (
        <Queue key={queue.name} queue={queue} />
      ))}
      <h2 class="next">Schedules</h2>
      {schedules.problem === null ? null : <Problem of={schedules.problem} />}
      {schedules.value?.schedules.length === 0 ? <p class="mut">Nothing begins by time.</p> : null}
      {schedules.value?.schedules.map((schedule) => (
        <Schedule key={schedule.name} schedule={schedule} />
      ))}
    </div>
  )
}

function Queue({ queue }: { readonly queue: QueueLine }) {
  const { name, of, running, waiting, nextAt, work } = queue
  const drawn = work.slice(0, WORK_DRAWN)
  const left = running + waiting - drawn.length
  return (
    <section class="card">
      <div class="row wrap">
        <h3 class="grow tr">{shownLine(name)}</h3>
        <Pill status={running > 0 ? 'running' : 'ready'} text={`${running} running`} />
        <Pill status={waiting > 0 ? 'waiting' : 'ready'} text={`${waiting} waiting`} />
      </div>
      <Facts
        rows={[
          of === null ? null : ['holds', of],
          ['at once', limitsText(queue)],
          nextAt === null ? null : ['next turn', dayText(nextAt)]
        ]}
      />
      <ul class="turns">
        {drawn.map((line, place) => (
          <Turn key={place} line={line} />
        ))}
      </ul>
      {left > 0 ? <p class="mut">{`and ${left} more`}</p> : null}
      <Command words={queueCommand(name)} />
    </section>
  )
}

function Turn({ line }: { readonly line: QueuedLine }) {
  const { runId, path, effect, priority, partition, since, isRunning } = line
  const what = [shownId(runId), path === null ? '' : shownPath(path), shownLine(effect ?? '')]
  return (
    <li>
      <a class="row" data-row="" href={linkTo('runs', runId)}>
        <Pill status={isRunning ? 'running' : 'waiting'} />
        <span class="grow tr">{what.filter((text) => text !== '').join(', ')}</span>
        {partition === '' ? null : <span class="tag tr">{shownLine(partition)}</span>}
        {priority === 0 ? null : <span class="mut">{`priority ${priority}`}</span>}
        <span class="dim num">{ageText(now.value - since)}</span>
      </a>
    </li>
  )
}

function Schedule({ schedule }: { readonly schedule: ScheduleLine }) {
  const { name, workflow, isPaused, overlap, catchUp, next, lastRun, problem } = schedule
  return (
    <section class="card">
      <div class="row wrap">
        <h3 class="grow tr">{shownLine(name)}</h3>
        {isPaused ? <Pill status="cancelled" text="paused" /> : <Pill status="ready" text="on" />}
      </div>
      {problem === null ? null : (
        <Banner tone="failed" icon="alert">
          {shownLine(problem)}
        </Banner>
      )}
      <Facts
        rows={[
          ['when', shownLine(whenText(schedule))],
          ['begins', shownLine(workflow ?? 'a document')],
          ['if one runs', overlaps[overlap]],
          ['times missed', missed(catchUp)],
          ['next', isPaused ? 'none while paused' : next.map(dayText).join(', ') || 'none'],
          [
            'last run',
            lastRun === null ? (
              <span class="dim">none of the last runs</span>
            ) : (
              <a class="link" data-row="" href={linkTo('runs', lastRun)}>
                {shownId(lastRun)}
              </a>
            )
          ]
        ]}
      />
      <Command words={scheduleCommand(name, isPaused)} />
    </section>
  )
}

const overlaps: Readonly<Record<ScheduleLine['overlap'], string>> = {
  skip: 'the next is left out',
  queue: 'the next waits for it',
  allow: 'the next begins beside it',
  cancel: 'it is cancelled for the next'
}

function missed(catchUp: ScheduleLine['catchUp']): string {
  if (catchUp === 'none') return 'are left out'
  return catchUp === 'last' ? 'the last is made up for' : `the last ${catchUp} are made up for`
}
