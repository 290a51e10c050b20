import { appendFile, readFile } from 'node:fs/promises'
import type { Provider } from 'tallystick'

/**
 * A bank that keeps its book in a file, one transfer a line. Like a real one it can be asked
 * whether a transfer with a given key was made, and answers a repeated key with the first transfer.
 */
export function fileBank(book: string, options: { readonly delayMs?: number } = {}): Provider {
  const transfers = async (): Promise<{ key: string; reference: string }[]> => {
    const text = await readFile(book, 'utf8').catch(() => '')
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  }
  const find = async (key: string) => (await transfers()).find((one) => one.key === key)
  return {
    name: 'bank.transfer',
    async perform({ key, request }) {
      const earlier = await find(key)
      if (earlier !== undefined) return { reference: earlier.reference }
      // Banks are slow; it also leaves time to watch, and to be killed in.
      await new Promise((resolve) => setTimeout(resolve, options.delayMs ?? 0))
      const reference = `T-${key.slice(0, 8)}`
      await appendFile(book, `${JSON.stringify({ key, reference, ...Object(request) })}\n`)
      return { reference }
    },
    async locate({ key }) {
      const earlier = await find(key)
      if (earlier === undefined) return { found: false, definite: true }
      return { found: true, result: { reference: earlier.reference } }
    }
  }
}
