import type { KeySource } from '../frame/passphrase.js'

/** What is pressed: `ends` at q and Ctrl-D, `interrupted` at Ctrl-C. Gives what stops listening. */
export function listenToKeys(
  pressed: { readonly ends: () => void; readonly interrupted: () => void },
  source: KeySource = process.stdin
): () => void {
  if (source.isTTY !== true) return () => undefined
  const listener = (keys: string) => {
    for (const key of keys) {
      if (key === CTRL_C) pressed.interrupted()
      else if (key === 'q' || key === 'Q' || key === CTRL_D) pressed.ends()
    }
  }
  const restore = () => source.setRawMode(false)
  source.setEncoding('utf8')
  source.setRawMode(true)
  source.resume()
  source.on('data', listener)
  process.once('exit', restore)
  return () => {
    process.off('exit', restore)
    source.off('data', listener)
    restore()
    source.pause()
  }
}

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
