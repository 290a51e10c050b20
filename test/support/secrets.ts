import fc from 'fast-check'

/** Secrets in the shapes that providers give them, and in every form in which they come back. */

const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const digits = '0123456789'
const word = upper + upper.toLowerCase() + digits
const url = `${word}_-`
const base64 = `${word}+/`
const hex = '0123456789abcdef'

function of(alphabet: string, length: number): fc.Arbitrary<string> {
  const one = fc.constantFrom(...alphabet)
  return fc.array(one, { minLength: length, maxLength: length }).map((all) => all.join(''))
}

function key(prefix: string, alphabet: string, length: number): fc.Arbitrary<string> {
  return of(alphabet, length).map((rest) => prefix + rest)
}

/** By provider. The prefixes are cut in two, so that no scanner takes this file for a leak. */
const providerKeys: Readonly<Record<string, fc.Arbitrary<string>>> = {
  openAi: key(`sk${'-proj-'}`, url, 48),
  anthropic: key(`sk${'-ant-api03-'}`, url, 93),
  deepSeek: key(`sk${'-'}`, hex, 32),
  google: key(`AI${'za'}`, url, 35),
  awsId: key(`AK${'IA'}`, upper + digits, 16),
  awsSecret: of(base64, 40),
  gitHub: key(`gh${'p_'}`, word, 36),
  gitHubFine: key(`github${'_pat_'}`, `${word}_`, 82),
  gitLab: key(`gl${'pat-'}`, url, 20),
  slack: key(`xo${'xb-'}`, `${digits}-`, 24),
  stripe: key(`sk${'_live_'}`, word, 24),
  twilio: key('SK', hex, 32),
  sendGrid: fc.tuple(of(url, 22), of(url, 43)).map(([id, rest]) => `SG.${id}.${rest}`),
  mailgun: key('key-', hex, 32),
  npm: key(`np${'m_'}`, word, 36),
  huggingFace: key(`hf${'_'}`, word, 34),
  telegram: fc.tuple(of(digits, 9), of(url, 35)).map(([id, rest]) => `${id}:${rest}`),
  azure: of(base64, 86).map((rest) => `${rest}==`),
  infura: of(hex, 32),
  cloudflare: of(url, 40)
}

const words = 'abandon ability able about above absent absorb abstract absurd abuse access acid'
const mnemonic = fc
  .array(fc.constantFrom(...words.split(' ')), { minLength: 12, maxLength: 24 })
  .map((all) => all.join(' '))

const privateKey = fc
  .tuple(fc.constantFrom('', '0x'), of(hex, 64))
  .map(([prefix, rest]) => prefix + rest)

const token = fc
  .tuple(fc.record({ sub: of(word, 8), exp: fc.nat() }), of(url, 43))
  .map(([claims, signature]) => {
    const encoded = [{ alg: 'HS256', typ: 'JWT' }, claims].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url')
    )
    return [...encoded, signature].join('.')
  })

const address = fc
  .tuple(of(word, 8), fc.string({ minLength: 8, maxLength: 24, unit: 'grapheme-ascii' }))
  .map(([user, password]) => `https://${user}:${encodeURIComponent(password)}@127.0.0.1:1/rpc`)

/** As people choose them: quotes, percent signs, backslashes, spaces, letters with marks. */
const password = fc
  .string({ minLength: 8, maxLength: 40, unit: fc.constantFrom(...'ab1 %"\\/+&<>=é漢n2Fu0') })
  .filter((text) => text.trim().length >= 8)

/** Secrets that a header can carry, by shape. */
export const headerShapes: Readonly<Record<string, fc.Arbitrary<string>>> = {
  ...providerKeys,
  mnemonic,
  privateKey,
  token
}

export const headerSecret: fc.Arbitrary<string> = fc.oneof(...Object.values(headerShapes))

export const anySecret: fc.Arbitrary<string> = fc.oneof(headerSecret, address, password)

/** Ways in which a text is encoded; each alone leaves nothing of a secret that is readable. */
export const encodings: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  percent: encodeURIComponent,
  'percent in lower case': (text) => lowerEscapes(encodeURIComponent(text)),
  'percent of every byte': everyByte,
  'percent of every byte in lower case': (text) => everyByte(text).toLowerCase(),
  'percent of RFC 3986': (text) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (one) => everyByte(one)),
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  hex: (text) => Buffer.from(text).toString('hex'),
  'hex in upper case': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  json: (text) => JSON.stringify(text).slice(1, -1),
  'json with slashes': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  'json of every character': (text) => [...Array(text.length).keys()].map(unit(text)).join(''),
  'json twice': (text) => JSON.stringify(JSON.stringify(text)).slice(1, -1),
  'json of percent': (text) => JSON.stringify(`/${encodeURIComponent(text)}`).slice(1, -1),
  'percent of base64': (text) => encodeURIComponent(Buffer.from(text).toString('base64')),
  'a form': (text) => new URLSearchParams({ key: text }).toString()
}

function unit(text: string): (at: number) => string {
  return (at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`
}

function everyByte(text: string): string {
  return Buffer.from(text).toString('hex').toUpperCase().replace(/../g, '%$&')
}

function lowerEscapes(text: string): string {
  return text.replace(/%../g, (escaped) => escaped.toLowerCase())
}

/** Forms of a secret that a text must not have; written without the code that takes them out. */
function formsOfSecret(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  const shifted = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes])
    const from = [0, 2, 3][before] ?? 0
    const to = Math.floor((padded.length * 4) / 3)
    return (['base64', 'base64url'] as const).map((way) => padded.toString(way).slice(from, to))
  })
  const { 'a form': _form, ...whole } = encodings
  return [...new Set([...Object.values(whole).map((encode) => encode(secret)), ...shifted])]
}

/** The forms of a secret that a text has. */
export function formsIn(text: string, secret: string): readonly string[] {
  return formsOfSecret(secret).filter((form) => text.includes(form))
}
