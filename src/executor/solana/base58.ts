const letters = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** The bytes that letters of base58 stand for, a `1` in front for each zero; undefined: none. */
export function base58Bytes(text: string): Uint8Array | undefined {
  let value = 0n
  for (const letter of text) {
    const digit = letters.indexOf(letter)
    if (digit < 0) return undefined
    value = value * 58n + BigInt(digit)
  }
  const digits = value === 0n ? '' : value.toString(16)
  const zeros = text.length - text.replace(/^1+/, '').length
  const rest = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex')
  return Uint8Array.from([...new Uint8Array(zeros), ...rest])
}

/** Bytes as letters of base58. */
export function base58Text(bytes: Uint8Array): string {
  let value = BigInt(`0x0${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  while (value > 0n) {
    text = letters.charAt(Number(value % 58n)) + text
    value /= 58n
  }
  const found = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(found < 0 ? bytes.length : found) + text
}
