import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { after } from '../client/browser.js'
import { status } from '../client/live.js'
import { commandLine } from '../pure/commands.js'
import { shownLine } from '../pure/shown-text.js'
import { Icon, type IconName } from './icon.js'

export type Tone = 'done' | 'running' | 'waiting' | 'failed' | 'cancelled' | 'imported' | 'ready'

/** A status: shape and word, never colour alone. */
export function Pill({ status, text }: { readonly status: Tone; readonly text?: string }) {
  return (
    <span class={`pill ${status}`}>
      {status === 'ready' ? null : <Icon name={status} />}
      {text ?? status}
    </span>
  )
}

/** Text of the ledger: hidden characters are shown, and it is never anything but text. */
export function Said({ text }: { readonly text: string }) {
  return <>{shownLine(text)}</>
}

const TOAST_MS = 1_700
export const toast = signal<string | null>(null)
let endToast = () => {}

export function say(text: string): void {
  endToast()
  toast.value = text
  endToast = after(TOAST_MS, () => {
    toast.value = null
  })
}

export function copy(text: string): void {
  navigator.clipboard.writeText(text).then(
    () => say('Copied'),
    () => say('The browser does not let this page copy')
  )
}

export function Hash({ hash, length = 12 }: { hash: string | null; length?: number }) {
  if (hash === null) return <span class="dim">none</span>
  return (
    <button type="button" class="hash" title={`${hash} (copy)`} onClick={() => copy(hash)}>
      {hash.slice(0, length)}
    </button>
  )
}

/** The same as a command of `tally`, to copy: with the ledger, wherever it is called. */
export function Command({ words }: { readonly words: readonly string[] }) {
  const text = commandLine(words, status.value?.location)
  return (
    <div class="cmd">
      <code>{shownLine(text)}</code>
      <button type="button" class="ib" aria-label="Copy the command" onClick={() => copy(text)}>
        <Icon name="copy" />
      </button>
    </div>
  )
}

export function Section(props: {
  readonly title: string
  readonly isOpen?: boolean
  /** Called whenever it is opened. */
  readonly onOpen?: () => void
  readonly children: ComponentChildren
}) {
  const { title, isOpen = true, onOpen, children } = props
  return (
    <details
      class="sec"
      open={isOpen}
      onToggle={({ currentTarget }) => currentTarget.open && onOpen?.()}
    >
      <summary>{title}</summary>
      <div class="bd">{children}</div>
    </details>
  )
}

export type Fact = readonly [name: string, value: ComponentChildren] | null

export function Facts({ rows }: { readonly rows: readonly Fact[] }) {
  return (
    <dl class="kv">
      {rows
        .filter((row) => row !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

export type Verdict = 'holds' | 'broken' | 'unknown'
const verdicts: Readonly<Record<Verdict, IconName>> = {
  holds: 'done',
  broken: 'failed',
  unknown: 'unknown'
}

/** What was checked, and how it came out; what was not checked is never green. */
export function Check(props: { readonly verdict: Verdict; readonly children: ComponentChildren }) {
  return (
    <div class={`chk ${props.verdict}`}>
      <Icon name={verdicts[props.verdict]} />
      <span>{props.children}</span>
    </div>
  )
}

/** What was not compared with what is signed, in words. */
export function NotChecked({ texts }: { readonly texts: readonly string[] }) {
  return (
    <>
      {texts.map((text) => (
        <Check key={text} verdict="unknown">
          not checked: {shownLine(text)}
        </Check>
      ))}
    </>
  )
}

export function Banner(props: {
  readonly tone: Tone
  readonly icon: IconName
  readonly isAlert?: boolean
  readonly children: ComponentChildren
}) {
  return (
    <div class={`ban ${props.tone}`} role={props.isAlert ? 'alert' : undefined}>
      <Icon name={props.icon} />
      <div class="grow">{props.children}</div>
    </div>
  )
}

/** What was answered instead of what was asked for. */
export function Problem(props: {
  readonly of: { code: string; message: string; fix?: string | undefined }
}) {
  const { code, message, fix } = props.of
  return (
    <Banner tone="failed" icon="alert" isAlert>
      <b>{code}</b> {shownLine(message)}
      {fix === undefined ? null : <div class="mut">{shownLine(fix)}</div>}
    </Banner>
  )
}
