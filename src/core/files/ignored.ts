import { lstat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { CONFIG_LEVELS_MAX, IGNORE_FILE_BYTES_MAX, IGNORE_STEPS_MAX } from '../limits.js'
import { type IgnoreRules, ignoreRules } from './ignore-rules.js'
import { OutOfSteps, type StepBudget } from './name-pattern.js'
import { readRegularFile } from './regular-file.js'

export type IgnoreProblem = 'ignored' | 'ignore_file_unreadable' | 'ignore_rules_too_costly'

/**
 * What the ignore files of a tree say, from the top of its repository down. An ignore file that
 * cannot be read keeps everything below it from being read: what it would have left out is unknown.
 *
 * Owns: the rules that were read, and the steps that one reading may take.
 */
export class Ignored {
  readonly #root: string
  readonly #top: string
  readonly #rules = new Map<string, IgnoreRules | 'unreadable' | undefined>()
  readonly #budget: StepBudget = { steps: IGNORE_STEPS_MAX }

  private constructor(root: string, top: string) {
    this.#root = root
    this.#top = top
  }

  /** `root` is a real path. */
  static async below(root: string): Promise<Ignored> {
    let at = root
    for (let levels = 0; levels < CONFIG_LEVELS_MAX; levels += 1) {
      if (await exists(join(at, '.git'))) return new Ignored(root, at)
      if (at === dirname(at)) break
      at = dirname(at)
    }
    return new Ignored(root, root)
  }

  /** Why a real path below the root is left out; each directory on the way counts. */
  async problem(path: string, isDirectory: boolean): Promise<IgnoreProblem | undefined> {
    const names = relative(this.#root, path).split(sep)
    let at = this.#root
    for (const [index, name] of names.entries()) {
      at = join(at, name)
      const isLast = index === names.length - 1
      const problem = await this.#problemOf(at, !isLast || isDirectory)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  /** The nearest file that has a rule for the path decides, and in it the last rule. */
  async #problemOf(path: string, isDirectory: boolean): Promise<IgnoreProblem | undefined> {
    const segments: string[] = []
    for (let at = path; at !== this.#top; ) {
      segments.unshift(at.slice(dirname(at).length).replace(/^[\\/]/, ''))
      at = dirname(at)
      const rules = await this.#rulesOf(at)
      if (rules === 'unreadable') return 'ignore_file_unreadable'
      try {
        const isIgnored = rules?.decide(segments, { isDirectory, budget: this.#budget })
        if (isIgnored !== undefined) return isIgnored ? 'ignored' : undefined
      } catch (error) {
        if (error instanceof OutOfSteps) return 'ignore_rules_too_costly'
        throw error
      }
    }
    return undefined
  }

  async #rulesOf(directory: string): Promise<IgnoreRules | 'unreadable' | undefined> {
    const known = this.#rules.get(directory)
    if (known !== undefined || this.#rules.has(directory)) return known
    const path = join(directory, '.gitignore')
    const read = await readRegularFile(path, { bytesMax: IGNORE_FILE_BYTES_MAX, isReal: true })
    const absent = !read.ok && read.problem === 'not_found'
    const rules = read.ok
      ? ignoreRules(read.bytes.toString('utf8'))
      : absent
        ? undefined
        : 'unreadable'
    this.#rules.set(directory, rules)
    return rules
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false
  )
}
