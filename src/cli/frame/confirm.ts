import { createInterface } from 'node:readline/promises'
import { canAsk } from './passphrase.js'

/** Asks yes or no at the terminal; undefined where there is no terminal. */
export async function confirm(question: string): Promise<boolean | undefined> {
  if (!canAsk()) return undefined
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await lines.question(`${question} [y/N] `)
    return /^(?:y|yes)$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}
