import type { ComponentChildren } from 'preact'
import { switchTheme } from '../client/browser.js'
import { connection, isHeld, shownCommit, status } from '../client/live.js'
import { address } from '../client/navigation.js'
import { Hash, toast } from '../parts/basics.js'
import { Icon } from '../parts/icon.js'
import { overlay } from '../parts/keys.js'
import { linkTo, type ScreenName } from '../pure/addresses.js'
import { openWaits, runCounts } from './counts.js'
import { SafeModeSign } from './safe-mode.js'

const labels: Readonly<Record<ScreenName, string>> = {
  runs: 'Runs',
  waits: 'Waits',
  work: 'Work',
  ledger: 'Ledger',
  state: 'State',
  health: 'Health'
}

/** What stands around every view: where one can go, what is live, and the search box. */
export function Shell(props: {
  readonly crumb: ComponentChildren
  readonly children: ComponentChildren
}) {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Rail />
      <header class="top">
        <h1 class="crumb tr">{props.crumb}</h1>
        <div class="grow" />
        <SafeModeSign />
        <Beat />
        <button
          type="button"
          class="find"
          onClick={() => {
            overlay.value = 'search'
          }}
        >
          <Icon name="find" />
          <span class="sr">Search</span>
          <span>Run, receipt, key, hash</span>
          <kbd>Ctrl K</kbd>
        </button>
        <button type="button" class="ib" aria-label="Light or dark" onClick={switchTheme}>
          <Icon name="moon" />
        </button>
        <button
          type="button"
          class="ib hide-s"
          aria-label="Keyboard"
          onClick={() => {
            overlay.value = 'help'
          }}
        >
          <Icon name="help" />
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        {props.children}
        <div aria-live="polite">
          {toast.value === null ? null : <div class="toast">{toast.value}</div>}
        </div>
      </main>
    </>
  )
}

function Rail() {
  const found = status.value
  return (
    <nav class="rail" aria-label="Main">
      <div class="brand">
        <svg viewBox="0 0 18 22" aria-hidden="true">
          <rect class="woodfill" x="1" y="1" width="16" height="20" rx="2.5" />
          <path class="cuts" d="M1 5h6M1 8.5h10M1 12h6M1 15.500h14" />
        </svg>
        <span>tallystick</span>
      </div>
      <Place screen="runs" count={String(runCounts.value?.all ?? '')} />
      <Place screen="waits" count={openWaits.value} isHot />
      <Place screen="work" />
      <Place screen="ledger" {...(found === null ? {} : { count: String(found.receipts) })} />
      <Place screen="state" />
      <Place screen="health" />
      {found === null ? null : (
        <div class="foot">
          <span>
            identity <Hash hash={found.identity} length={10} />
          </span>
          <span>{`epoch ${found.epoch}, process ${found.process}`}</span>
          <span>{found.readOnly ? 'read only' : 'loopback only'}</span>
        </div>
      )}
    </nav>
  )
}

function Place(props: {
  readonly screen: ScreenName
  readonly count?: string
  readonly isHot?: boolean
}) {
  const { screen, count = '', isHot = false } = props
  const isHere = address.value.screen === screen
  const isShown = count !== '' && !(isHot && count === '0')
  return (
    <a class="nav" href={linkTo(screen)} aria-current={isHere ? 'page' : undefined}>
      <Icon name={screen} />
      <span>{labels[screen]}</span>
      {isShown ? <span class={isHot ? 'n hot' : 'n'}>{count}</span> : null}
    </a>
  )
}

const titles = {
  connecting: 'The page asks for what happens',
  live: 'Everything up to this commit is shown',
  resting: 'No process holds the ledger: it is read from the disk, and nothing moves in it',
  lost: 'What is shown may be out of date'
}

function Beat() {
  const commit = shownCommit.value
  const state = connection.value === 'live' && !isHeld.value ? 'resting' : connection.value
  const words = {
    connecting: 'connecting',
    live: 'live',
    resting: 'not held',
    lost: 'not connected'
  }
  const upTo =
    commit === null || state === 'connecting' || state === 'lost' ? '' : `, commit ${commit}`
  return (
    <div class={`beat ${state}`} title={titles[state]}>
      <i />
      <span>{`${words[state]}${upTo}`}</span>
    </div>
  )
}
