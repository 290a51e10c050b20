import { SECRET_LENGTH_MIN } from '../limits.js'
import { viewsOf } from './escapes.js'
import { partsOfUrl } from './url-parts.js'

/**
 * The texts in which a secret is found: as it is, its bytes in base64, base64url and hex, and the
 * same of its parts where it is an address. Escapes of any kind are undone in what is searched; the
 * usual ones stand here too, since a percent sign or backslash right before a secret makes another
 * escape of its first characters.
 */
export function formsOf(secret: string): ReadonlySet<string> {
  const found = new Set<string>()
  for (const text of [secret, ...partsOfUrl(secret)]) {
    for (const plain of plainFormsOf(text)) addBytes(found, plain)
    const digits = /^(?:0x)?((?:[0-9a-f]{2}){16,})$/i.exec(text)?.[1]
    if (digits !== undefined) addCoded(found, Buffer.from(digits, 'hex'))
  }
  return found
}

/** A text that holds escapes itself, as an address does, also without them. */
function plainFormsOf(text: string): readonly string[] {
  const found = viewsOf(text).flatMap((view) =>
    view.text.trim().length >= SECRET_LENGTH_MIN ? [view.text] : []
  )
  // As forms of HTML are sent.
  const posted = text.replaceAll(' ', '+')
  return posted === text ? found : [...found, posted]
}

function addBytes(found: Set<string>, text: string): void {
  const bytes = Buffer.from(text, 'utf8')
  found.add(text)
  const percent = encodeURIComponent(text.toWellFormed())
  found.add(percent)
  found.add(percent.replace(/%../g, (escaped) => escaped.toLowerCase()))
  found.add(JSON.stringify(text).slice(1, -1))
  // Percent-encoded bytes, and bodies that are no UTF-8, are read byte by byte.
  found.add(bytes.toString('latin1'))
  addCoded(found, bytes)
}

function addCoded(found: Set<string>, bytes: Buffer): void {
  const hex = bytes.toString('hex')
  found.add(hex)
  found.add(hex.toUpperCase())
  for (const before of [0, 1, 2]) {
    const padded = Buffer.concat([Buffer.alloc(before), bytes])
    // Only digits that depend on nothing beside the secret: what surrounds it is not known.
    const from = Math.ceil((before * 8) / 6)
    const to = Math.floor((padded.length * 8) / 6)
    found.add(padded.toString('base64').slice(from, to))
    found.add(padded.toString('base64url').slice(from, to))
  }
}
