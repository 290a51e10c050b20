import type { Json } from '../../core/index.js'
import type { Resolution } from './resolution.js'

/**
 * Texts that the kernel understands by itself, so that they are sent nowhere (semantics.md K11).
 * Each pattern is the whole text: what has more to say is not understood, rather than half
 * understood. Letters of patterns are ASCII, so that no version of Unicode changes a match (D4).
 */
interface Pattern {
  readonly text: RegExp
  readonly action: string
  readonly payload?: (groups: Readonly<Record<string, string>>) => Readonly<Record<string, Json>>
}

const AMOUNT = '(?<amount>[1-9][0-9]{0,77})'
const ASSET = '(?: (?<asset>[A-Za-z0-9][A-Za-z0-9-]{0,31}))?'
/** Up to three words of which none joins two sentences. */
const NAME =
  '(?<name>(?!(?:and|then|or|with|as)\\b)[^\\s,;:.!?/]+' +
  '(?: (?!(?:and|then|or|with|as|but|via)\\b)[^\\s,;:.!?/]+){0,2})'

function whole(pattern: string): RegExp {
  return new RegExp(`^(?:please )?${pattern}[.!?]?$`, 'i')
}

const patterns: readonly Pattern[] = [
  { text: whole('verify(?: (?:the |my )?(?:ledger|chain|receipts))?'), action: 'system.verify' },
  { text: whole('replay(?: (?:the |my )?(?:ledger|chain|receipts))?'), action: 'system.replay' },
  { text: whole('(?:show )?(?:the |my )?state ?root'), action: 'system.stateroot' },
  { text: whole('(?:show )?safe ?mode'), action: 'system.safe' },
  { text: whole('(?:show |check )?(?:the )?integrity'), action: 'system.integrity' },
  { text: whole('(?:show )?(?:the )?core ?hash'), action: 'system.corehash' },
  { text: whole('(?:show |list )?(?:the |my )?permissions'), action: 'system.permissions' },
  {
    text: whole('(?:show |list )?(?:the |my )?(?:installed )?packages'),
    action: 'system.packages'
  },
  {
    text: whole("(?:(?:show|check|what is|what's|whats) )?(?:the |my )?balance"),
    action: 'wallet.balance'
  },
  {
    text: whole(`(?:send|pay|transfer) ${AMOUNT}${ASSET} to ${NAME}`),
    action: 'wallet.send',
    payload: ({ amount = '', asset, name = '' }) => ({ ...money(amount, asset), target: name })
  },
  {
    text: whole(`mint ${AMOUNT}${ASSET}`),
    action: 'wallet.mintFC',
    payload: ({ amount = '', asset }) => money(amount, asset)
  },
  {
    text: whole(`burn ${AMOUNT}${ASSET}`),
    action: 'wallet.burnFC',
    payload: ({ amount = '', asset }) => money(amount, asset)
  },
  {
    text: whole(`(?:validate|check|find) (?:the )?(?:contact|recipient) ${NAME}`),
    action: 'contacts.validate',
    payload: ({ name = '' }) => ({ recipient: name })
  },
  {
    text: new RegExp(`^(?:please )?(?:message|tell) ${NAME}: (?<message>[^]{1,10000})$`, 'i'),
    action: 'messages.send',
    payload: ({ name = '', message = '' }) => ({ recipient: name, message })
  }
]

/** Beginnings of what only a person at an entry point may ask for, and where. */
const reserved: readonly (readonly [RegExp, string, string])[] = [
  [/^(?:please )?(?:grant|allow|permit)\b/i, 'system.grant', 'tally grant'],
  [/^(?:please )?(?:revoke|forbid)\b/i, 'system.revoke', 'tally revoke'],
  [/^(?:please )?(?:approve|confirm|accept)\b/i, 'answer', 'tally approve'],
  [/^(?:please )?(?:deny|reject|refuse)\b/i, 'answer', 'tally deny'],
  [/^(?:please )?(?:resume|cancel)\b/i, 'answer', 'tally resume, or tally cancel'],
  [/^(?:please )?prefer\b/i, 'system.prefer', 'tally prefer'],
  [/^(?:please )?(?:un)?install\b/i, 'package.install', 'tally install, or tally uninstall'],
  [/^(?:please )?recover\b/i, 'system.recover', 'tally recover']
]

/** What the kernel makes of a text by itself; undefined when it does not know. */
export function kernelResolution(text: string): Resolution | undefined {
  for (const [pattern, action, instead] of reserved) {
    if (pattern.test(text)) return { kind: 'refused', action, instead }
  }
  for (const { text: pattern, action, payload } of patterns) {
    const match = pattern.exec(text)
    if (match !== null) {
      const asked = payload?.(match.groups ?? {}) ?? {}
      return { kind: 'intent', by: 'kernel', intent: { action, payload: asked, raw: text } }
    }
  }
  return undefined
}

function money(amount: string, asset: string | undefined) {
  return { amount, ...(asset === undefined ? {} : { asset: asset.toLowerCase() }) }
}
