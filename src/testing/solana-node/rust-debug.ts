import type { RpcValue } from '../rpc-node/index.js'

const token = /\s*("(?:[^"\\]|\\.)*"|-?\d+|[A-Za-z_]\w*|[(){}[\],:])/y

/**
 * The value of a text that Rust's `Debug` wrote, from an offset on, as serde writes it as JSON:
 * `InstructionError(0, Custom(1))` is `{"InstructionError":[0,{"Custom":1}]}`.
 */
export function rustValue(text: string, from = 0): RpcValue {
  return new DebugText(text, from).value()
}

class DebugText {
  readonly #text: string
  #at: number

  constructor(text: string, from: number) {
    this.#text = text
    this.#at = from
  }

  value(): RpcValue {
    const next = this.#take()
    if (next === '[') return this.#list(']')
    if (next.startsWith('"')) return JSON.parse(next) as string
    if (/^-?\d/.test(next)) return asNumber(next)
    if (this.#skip('(')) {
      const items = this.#list(')')
      return { [next]: items.length === 1 ? items[0] : items }
    }
    if (this.#skip('{')) return { [next]: this.#members() }
    return next
  }

  #list(end: string): RpcValue[] {
    const items: RpcValue[] = []
    while (!this.#skip(end)) {
      items.push(this.value())
      this.#skip(',')
    }
    return items
  }

  #members(): RpcValue {
    const members: Record<string, RpcValue> = {}
    while (!this.#skip('}')) {
      const name = this.#take()
      this.#skip(':')
      members[name] = this.value()
      this.#skip(',')
    }
    return members
  }

  #skip(wanted: string): boolean {
    const before = this.#at
    if (this.#next() === wanted) return true
    this.#at = before
    return false
  }

  #take(): string {
    const found = this.#next()
    if (found === undefined) throw new Error(`not written by Debug: ${this.#text}`)
    return found
  }

  /** Undefined: at its end. */
  #next(): string | undefined {
    token.lastIndex = this.#at
    const found = token.exec(this.#text)?.[1]
    if (found !== undefined) this.#at = token.lastIndex
    return found
  }
}

function asNumber(text: string): RpcValue {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}
