import { readFileSync, writeSync } from 'node:fs'
import { replaceBuiltins } from './builtins.js'
import { type Job, type JobLine, unendedResult } from './job.js'
import { watchStackTexts } from './watch.js'

/**
 * The program of a child process: it replaces the built-ins, then loads and executes the blocks.
 *
 * Owns: the process. What it uses itself it takes before anything is replaced.
 */

const ANSWERS = 3
const answer = (line: JobLine) => write(`${JSON.stringify(line)}\n`)
const written = writeSync
const exit = process.exit.bind(process)

function write(text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) at += written(ANSWERS, bytes, at)
}

async function run(job: Job): Promise<void> {
  replaceBuiltins()
  Error.stackTraceLimit = job.world.stackFrames
  // What code leaves behind, a promise that is rejected late for one, ends no other case.
  process.on('uncaughtException', () => undefined)
  process.on('unhandledRejection', () => undefined)
  watchStackTexts()
  const { runCase } = await import('./run-case.js')
  for (const one of job.cases) {
    const { number } = one
    answer({ kind: 'begun', number })
    const result = await runCase(one, job).catch((error: unknown) =>
      unendedResult(`it cannot be executed: ${error instanceof Error ? error.message : 'unknown'}`)
    )
    answer({ kind: 'ended', number, ...result })
  }
  exit(0)
}

await run(JSON.parse(readFileSync(0, 'utf8')))
