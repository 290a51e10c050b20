import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { askPassphrase, type KeySource } from '../../../src/cli/frame/passphrase.js'

class Keyboard extends EventEmitter implements KeySource {
  readonly isTTY = true
  isRaw = false
  setRawMode(isRaw: boolean): void {
    this.isRaw = isRaw
  }
  setEncoding(): void {}
  resume(): void {}
  pause(): void {}
}

function asked() {
  const source = new Keyboard()
  const shown: string[] = []
  const answer = askPassphrase('Passphrase: ', { source, show: (text) => shown.push(text) })
  return { source, shown, answer, type: (keys: string) => source.emit('data', keys) }
}

describe('askPassphrase', () => {
  it('reads a line without showing it, and gives the terminal back', async () => {
    const { answer, shown, source, type } = asked()
    expect(source.isRaw).toBe(true)
    for (const keys of ['se', 'x', '\u007f', 'crét', '\u001b', '\r']) type(keys)
    expect(await answer).toBe('secrét')
    expect(shown.join('')).toBe('Passphrase: \n')
    expect(source.isRaw).toBe(false)
    expect(source.listenerCount('data')).toBe(0)
  })

  it('ends at Ctrl-C', async () => {
    const { answer, source, type } = asked()
    type('abc\u0003')
    await expect(answer).rejects.toMatchObject({ code: 'cli.usage' })
    expect(source.isRaw).toBe(false)
  })
})
