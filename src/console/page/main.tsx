import { signal } from '@preact/signals'
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { openSession } from './client/api.js'
import { followTheme, switchTheme } from './client/browser.js'
import { changes, followFeed, refreshStatus } from './client/live.js'
import { address, followLinks, go } from './client/navigation.js'
import { problemOf } from './client/query.js'
import { copy, Problem } from './parts/basics.js'
import { followKeys, overlay, useKeys } from './parts/keys.js'
import { linkTo } from './pure/addresses.js'
import { countAll } from './screens/counts.js'
import { Health } from './screens/health.js'
import { Ledger } from './screens/ledger.js'
import { Overlays } from './screens/overlays.js'
import { Run, RunCrumb } from './screens/run.js'
import { Runs } from './screens/runs.js'
import { session } from './screens/session.js'
import { Shell } from './screens/shell.js'
import { State } from './screens/state.js'
import { Waits } from './screens/waits.js'
import { followWidth } from './screens/width.js'
import { Work } from './screens/work.js'

/** Why the page shows nothing: without a session no question is answered. */
const refusal = signal<{ code: string; message: string; fix?: string | undefined } | null>(null)

function Page() {
  const { screen, id } = address.value
  const { runs } = changes.value
  useEffect(countAll, [runs])
  useEffect(() => {
    if (screen !== 'runs' || id === undefined) document.title = `${names[screen]} · tallystick`
  }, [screen, id])
  useKeys({
    'g r': () => go(linkTo('runs')),
    'g w': () => go(linkTo('waits')),
    'g q': () => go(linkTo('work')),
    'g l': () => go(linkTo('ledger')),
    'g s': () => go(linkTo('state')),
    'g h': () => go(linkTo('health')),
    '?': () => {
      overlay.value = 'help'
    },
    m: switchTheme,
    y: () => copy(location.href)
  })
  return (
    <>
      <Shell crumb={screen === 'runs' && id !== undefined ? <RunCrumb id={id} /> : names[screen]}>
        <Screen />
      </Shell>
      <Overlays />
    </>
  )
}

const names = {
  runs: 'Runs',
  waits: 'Waits',
  work: 'Work',
  ledger: 'Ledger',
  state: 'State',
  health: 'Health'
} as const

function Screen() {
  const { screen, id } = address.value
  switch (screen) {
    case 'runs':
      return id === undefined ? <Runs /> : <Run key={id} id={id} />
    case 'waits':
      return <Waits token={id} />
    case 'work':
      return <Work />
    case 'ledger':
      return <Ledger which={id} />
    case 'state':
      return <State stateKey={id} />
    case 'health':
      return <Health />
  }
}

function Root() {
  if (refusal.value !== null) return <Problem of={refusal.value} />
  return session.value === null ? null : <Page />
}

/** Takes the token out of the address, where it would be kept, and opens the session with it. */
async function begin(): Promise<void> {
  const token = /^#(?:token=)?([\w-]+)$/.exec(location.hash)?.[1]
  if (token !== undefined) go(`${location.pathname}${location.search}`, true)
  try {
    const opened = await openSession(token)
    session.value = opened
    if (opened.run !== null && location.pathname === '/') go(linkTo('runs', opened.run), true)
  } catch (thrown) {
    const { code, message } = problemOf(thrown)
    const fix = 'Open the link that `tally inspect` prints: each is good once, for a minute.'
    refusal.value = { code, message, fix }
    return
  }
  refreshStatus()
  followFeed()
}

followTheme()
followLinks()
followWidth()
followKeys()
const root = document.getElementById('app')
if (root !== null) render(<Root />, root)
begin()
