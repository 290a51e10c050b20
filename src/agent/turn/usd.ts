/** US dollars as exact whole numbers of 10^-12 dollars: no floating point decides a budget. */

const PLACES = 12
const decimal = /^(\d{1,18})(?:\.(\d{1,18}))?$/

/** Undefined for anything that is not a decimal number of zero or more. */
export function picoDollars(value: string | number): bigint | undefined {
  const text = typeof value === 'number' ? numberText(value) : value
  const match = decimal.exec(text)
  if (match === null) return undefined
  const fraction = (match[2] ?? '').padEnd(PLACES, '0').slice(0, PLACES)
  return BigInt(`${match[1] ?? '0'}${fraction}`)
}

export function dollarText(pico: bigint): string {
  const digits = pico.toString().padStart(PLACES + 1, '0')
  const whole = digits.slice(0, -PLACES)
  const fraction = digits.slice(-PLACES).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** Price of some tokens at dollars per million, rounded up. */
export function priceOf(tokens: number, usdPerMillion: string | number): bigint | undefined {
  const price = picoDollars(usdPerMillion)
  if (price === undefined || !Number.isSafeInteger(tokens) || tokens < 0) return undefined
  return (BigInt(tokens) * price + 999_999n) / 1_000_000n
}

function numberText(value: number): string {
  const text = `${value}`
  return text.includes('e') ? value.toFixed(PLACES) : text
}
