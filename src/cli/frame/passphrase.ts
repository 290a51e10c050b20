import { cliError } from '../../core/index.js'
import type { Frame } from './frame.js'

/** A terminal that can be read key by key. */
export interface KeySource {
  readonly isTTY?: boolean | undefined
  setRawMode(isRaw: boolean): unknown
  setEncoding(encoding: 'utf8'): unknown
  resume(): unknown
  pause(): unknown
  on(event: 'data', listener: (keys: string) => void): unknown
  off(event: 'data', listener: (keys: string) => void): unknown
}

/** The passphrase of the environment, or undefined. */
export function givenPassphrase(frame: Frame): string | undefined {
  return frame.environment['TALLY_PASSPHRASE']
}

/** Whether a person can be asked. */
export function canAsk(source: KeySource = process.stdin): boolean {
  return source.isTTY === true && process.stderr.isTTY === true
}

/** Asks without showing what is typed. Throws `cli.usage` at Ctrl-C and Ctrl-D. */
export async function askPassphrase(
  prompt: string,
  {
    source = process.stdin,
    show = (shown: string) => process.stderr.write(shown)
  }: { readonly source?: KeySource; readonly show?: (shown: string) => void } = {}
): Promise<string> {
  show(prompt)
  source.setEncoding('utf8')
  source.setRawMode(true)
  source.resume()
  try {
    return await typed(source)
  } finally {
    source.setRawMode(false)
    source.pause()
    show('\n')
  }
}

/** Asks twice for the passphrase of a new key; undefined without a terminal. */
export async function chosenPassphrase(): Promise<string | undefined> {
  if (!canAsk()) return undefined
  const first = await askPassphrase('Passphrase for the new key: ')
  const second = await askPassphrase('Again: ')
  if (first === second) return first
  throw cliError('cli.usage', { problem: 'the two passphrases differ' })
}

function typed(source: KeySource): Promise<string> {
  return new Promise((resolve, reject) => {
    let line = ''
    const listener = (keys: string) => {
      for (const key of keys) {
        if (key === '\r' || key === '\n') {
          source.off('data', listener)
          resolve(line)
          return
        }
        if (key === '\u0003' || key === '\u0004') {
          source.off('data', listener)
          reject(cliError('cli.usage', { problem: 'no passphrase was given' }))
          return
        }
        if (key === '\u007f' || key === '\b') line = [...line].slice(0, -1).join('')
        else if (key >= ' ') line += key
      }
    }
    source.on('data', listener)
  })
}
