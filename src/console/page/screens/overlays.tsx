import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Found } from '../../../runtime/index.js'
import { ask } from '../client/api.js'
import { after } from '../client/browser.js'
import { address, go } from '../client/navigation.js'
import { problemOf } from '../client/query.js'
import { Command, say } from '../parts/basics.js'
import { overlay, useKeys } from '../parts/keys.js'
import { addressText, linkTo } from '../pure/addresses.js'
import { cancelCommand } from '../pure/commands.js'
import { shownLine } from '../pure/shown-text.js'

const close = () => {
  overlay.value = null
}

export function Overlays() {
  switch (overlay.value) {
    case 'search':
      return <Search />
    case 'help':
      return <Help />
    case 'cancel':
      return <Cancel />
    case null:
      return null
  }
}

/** A box over the page: the focus stays in it, and returns to where it was. */
function Box({
  label,
  children
}: {
  readonly label: string
  readonly children: ComponentChildren
}) {
  const box = useRef<HTMLDialogElement>(null)
  useKeys({ Escape: close })
  useEffect(() => {
    const before = document.activeElement
    box.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same
    <dialog
      ref={box}
      class="box"
      aria-label={label}
      onClose={close}
      onClick={(event) => {
        if (event.target === box.current) close()
      }}
    >
      {children}
    </dialog>
  )
}

const SEARCH_DELAY_MS = 80
const FOUND_MAX = 12

/** What a text leads to: a thing, or all keys of the state that begin with it. */
type Lead = Found | { readonly kind: 'keys'; readonly prefix: string }

/** One box for runs, receipts by place or hash, keys, and open waits. */
function Search() {
  const [text, setText] = useState('')
  const [found, setFound] = useState<readonly Lead[]>([])
  const [chosen, setChosen] = useState(0)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    if (text.trim() === '') return setFound([])
    const end = new AbortController()
    const callOff = after(SEARCH_DELAY_MS, () => {
      ask('locate', { text: text.trim() }, end.signal).then(
        (result) => {
          const keys = { kind: 'keys', prefix: text.trim() } as const
          setFound([...result.found.slice(0, FOUND_MAX), keys])
          setChosen(0)
          setProblem('')
        },
        (thrown: unknown) => end.signal.aborted || setProblem(problemOf(thrown).message)
      )
    })
    return () => {
      callOff()
      end.abort()
    }
  }, [text])
  const open = (one: Lead | undefined) => {
    if (one === undefined) return
    close()
    go(addressOf(one))
  }
  return (
    <Box label="Search">
      <input
        type="search"
        role="combobox"
        aria-expanded={found.length > 0}
        aria-controls="found"
        aria-activedescendant={found.length > 0 ? `found-${chosen}` : undefined}
        placeholder="A run, a receipt by number or hash, a key, an open wait"
        aria-label="Search"
        value={text}
        onInput={({ currentTarget: { value } }) => setText(value)}
        onKeyDown={({ key }) => {
          if (key === 'ArrowDown') setChosen(Math.min(found.length - 1, chosen + 1))
          if (key === 'ArrowUp') setChosen(Math.max(0, chosen - 1))
          if (key === 'Enter') open(found[chosen])
        }}
      />
      <div class="found" id="found" role="listbox" aria-label="Found">
        {found.map((one, place) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are the business of the search box
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the search box
          <div
            key={addressOf(one)}
            id={`found-${place}`}
            class="it"
            role="option"
            aria-selected={place === chosen}
            onClick={() => open(one)}
          >
            <span class="tag">{one.kind}</span>
            <span class="tr grow">{wordsOf(one)}</span>
          </div>
        ))}
      </div>
      {problem === '' ? null : <p class="empty">{shownLine(problem)}</p>}
      {found.length === 1 && problem === '' ? <Nothing text={text.trim()} /> : null}
    </Box>
  )
}

/** What a text that leads to no thing may lack. */
function Nothing({ text }: { readonly text: string }) {
  const isStartOfHash = /^[0-9a-f]{8,63}$/.test(text)
  return (
    <p class="empty">
      {isStartOfHash
        ? 'The start of a hash: give all of it, or the place of the receipt.'
        : 'Nothing has this id, hash, key or token.'}
    </p>
  )
}

function addressOf(found: Lead): string {
  switch (found.kind) {
    case 'run':
      return linkTo('runs', found.id)
    case 'receipt':
      return linkTo('ledger', found.index)
    case 'wait':
      return linkTo('waits', found.token)
    case 'state':
      return linkTo('state', found.key)
    case 'keys':
      return addressText({ screen: 'state', id: undefined, query: { prefix: found.prefix } })
  }
}

function wordsOf(found: Lead): string {
  switch (found.kind) {
    case 'run':
      return shownLine(`${found.id}  ${found.name}`)
    case 'receipt':
      return `#${found.index}  ${found.hash}`
    case 'wait':
      return shownLine(`${found.token}  of ${found.runId}`)
    case 'state':
      return shownLine(found.key)
    case 'keys':
      return shownLine(`of the state that begin with ${found.prefix}`)
  }
}

const keys: readonly (readonly [keys: string, does: string])[] = [
  ['j k', 'next, previous'],
  ['Enter', 'open'],
  ['[ ]', 'an entry or receipt back, forth'],
  ['{ }', 'the first, now'],
  ['e', 'first failure of the run'],
  ['Ctrl K', 'search'],
  ['/', 'filter'],
  ['g r', 'runs'],
  ['g w', 'waits'],
  ['g q', 'queues and schedules'],
  ['g l', 'ledger'],
  ['g s', 'state'],
  ['g h', 'health'],
  ['a d', 'approve, deny'],
  ['r t p', 'give a value, try again, change the input'],
  ['s x', 'skip, let it fail'],
  ['v', 'verify'],
  ['y', 'copy the address of this view'],
  ['m', 'light or dark'],
  ['Esc', 'close']
]

function Help() {
  return (
    <Box label="Keyboard">
      <h2 class="boxhead">Keyboard</h2>
      <dl class="keys">
        {keys.map(([names, does]) => (
          <div key={names}>
            <dt>{does}</dt>
            <dd>
              {names.split(' ').map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Box>
  )
}

/** Asks for a reason, which the journal keeps, and cancels the run that is shown. */
function Cancel() {
  const [reason, setReason] = useState('')
  const [isSent, setSent] = useState(false)
  const { id = '' } = address.value
  const send = () => {
    setSent(true)
    ask('cancel', { id, ...(reason === '' ? {} : { reason }) }).then(
      () => {
        close()
        say('Cancelled')
      },
      (thrown: unknown) => {
        setSent(false)
        say(problemOf(thrown).message)
      }
    )
  }
  return (
    <Box label="Cancel the run">
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <h2>Cancel the run {shownLine(id)}?</h2>
        <p class="mut">What it did outside stays done, unless its document undoes it.</p>
        <input
          class="inp"
          aria-label="Reason"
          placeholder="Reason, kept in the journal"
          value={reason}
          onInput={({ currentTarget: { value } }) => setReason(value)}
        />
        <div class="row">
          <button type="submit" class="btn no" disabled={isSent}>
            Cancel the run
          </button>
          <button type="button" class="btn" onClick={close}>
            Let it run
          </button>
        </div>
        <Command words={cancelCommand(id, reason)} />
      </form>
    </Box>
  )
}
