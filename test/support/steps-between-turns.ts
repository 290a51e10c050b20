import { vi } from 'vitest'
import { DocumentWork } from '../../src/core/index.js'

/** What work in slices took, in steps. */
export interface CountedSteps {
  /** Most steps from one turn of the event loop to the next. */
  readonly most: number
  /** Most steps of one slice: of work that cannot be interrupted. */
  readonly mostOfSlice: number
  readonly total: number
  readonly turns: number
}

/**
 * Counts the steps of what is done in slices, from one turn of the event loop to the next. With
 * `sliceSteps`, a slice is full after so many: then a small document shows what a loop adds to one.
 */
export async function stepsOf(
  act: () => Promise<unknown>,
  { sliceSteps }: { readonly sliceSteps?: number } = {}
): Promise<CountedSteps> {
  using counted = new Counting(sliceSteps)
  await act()
  return counted
}

class Counting implements CountedSteps {
  most = 0
  mostOfSlice = 0
  total = 0
  turns = 0
  #steps = 0
  #isDone = false
  readonly #restore: () => void

  constructor(sliceSteps: number | undefined) {
    const { prototype } = DocumentWork
    const { during } = prototype
    const count = (steps: number) => this.#count(steps)
    const spy = vi.spyOn(prototype, 'during').mockImplementation(function <Result>(
      this: DocumentWork,
      act: () => Result
    ): Result {
      try {
        return during.call(this, act) as Result
      } finally {
        count(this.sliceSteps)
      }
    })
    const full = Object.getOwnPropertyDescriptor(prototype, 'isSliceFull') ?? {}
    // A spy would keep each of its millions of calls.
    if (sliceSteps !== undefined) {
      Object.defineProperty(prototype, 'isSliceFull', {
        configurable: true,
        get(this: DocumentWork) {
          return this.sliceSteps >= sliceSteps
        }
      })
    }
    this.#restore = () => {
      spy.mockRestore()
      Object.defineProperty(prototype, 'isSliceFull', full)
    }
    setImmediate(() => this.#turn())
  }

  #count(steps: number): void {
    this.#steps += steps
    this.total += steps
    this.mostOfSlice = Math.max(this.mostOfSlice, steps)
  }

  #turn(): void {
    this.turns += 1
    this.most = Math.max(this.most, this.#steps)
    this.#steps = 0
    if (!this.#isDone) setImmediate(() => this.#turn())
  }

  [Symbol.dispose](): void {
    this.#isDone = true
    this.#turn()
    this.#restore()
  }
}
