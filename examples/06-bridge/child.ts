import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A program of this example in a process of its own, whose lines are shown as they come. */
export class Child {
  readonly #process: ChildProcess
  readonly #ended: Promise<number | null>
  readonly #listeners = new Set<(line: string) => void>()

  constructor(program: string, given: object) {
    const path = fileURLToPath(new URL(`./${program}.js`, import.meta.url))
    const child = spawn(process.execPath, [path, JSON.stringify(given)], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    this.#process = child
    this.#ended = new Promise((resolve) => child.once('close', (code) => resolve(code)))
    createInterface(child.stdout).on('line', (line) => {
      console.log(`  ${program}: ${line}`)
      for (const listener of this.#listeners) listener(line)
    })
    // It must not outlive this process.
    const kill = () => void child.kill('SIGKILL')
    process.once('exit', kill)
    void this.#ended.then(() => process.off('exit', kill))
  }

  /** Resolves when it prints a line; rejects when it ends before. */
  prints(words: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const listener = (line: string) => {
        if (!line.includes(words)) return
        this.#listeners.delete(listener)
        resolve()
      }
      this.#listeners.add(listener)
      void this.#ended.then(() => reject(new Error(`it ended before it printed ${words}`)))
    })
  }

  /** Resolves with its exit code. */
  ended(): Promise<number | null> {
    return this.#ended
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.#ended
  }
}
