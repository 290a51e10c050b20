import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { limits, systemClock } from '../../core/index.js'
import { type CaseResult, type Job, type JobCase, type JobLine, unendedResult } from './job.js'

const program = fileURLToPath(new URL('./child.js', import.meta.url))

/** What came of the cases, by number. */
export type CaseResults = ReadonlyMap<number, CaseResult>

/**
 * Runs the cases in a child process, in a further one from where one of them has ended its process.
 */
export async function runCases(job: Job, timeoutMs: number): Promise<CaseResults> {
  const results = new Map<number, CaseResult>()
  for (let open = job.cases; open.length > 0; ) {
    const { ended, begun, why } = await runChild({ ...job, cases: open }, timeoutMs)
    for (const [number, result] of ended) results.set(number, result)
    const left = open.filter(({ number }) => !results.has(number))
    const stopped: readonly JobCase[] =
      begun === undefined ? left : left.filter(({ number }) => number === begun)
    for (const { number } of stopped) results.set(number, unendedResult(why))
    open = left.filter(({ number }) => !results.has(number))
  }
  return results
}

interface ChildEnd {
  readonly ended: CaseResults
  /** Number of the case that it has not ended. */
  readonly begun: number | undefined
  /** Why it has ended. */
  readonly why: string
}

function runChild(job: Job, timeoutMs: number): Promise<ChildEnd> {
  const { env } = process
  const { environment, directory } = job.world
  const child = spawn(process.execPath, [...permissions(job), ...always, program], {
    env: { ...env, ...environment },
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    ...(directory === undefined ? {} : { cwd: directory })
  })
  const [input, , errors, answers] = child.stdio
  const texts: Buffer[] = []
  let bytes = 0
  let error = ''
  let stopped: string | undefined
  const stopAfter = (ms: number) =>
    systemClock.schedule(systemClock.now() + ms, () => {
      stopped ??= `it was stopped after ${ms} ms`
      child.kill('SIGKILL')
    })
  let callOff = stopAfter(limits.DETECTION_START_MS)
  answers?.on('data', (chunk: Buffer) => {
    callOff()
    bytes += chunk.length
    if (bytes <= limits.DETECTED_OUTPUT_BYTES_MAX) {
      texts.push(chunk)
      callOff = stopAfter(timeoutMs)
    } else {
      stopped ??= `it was stopped at ${limits.DETECTED_OUTPUT_BYTES_MAX} bytes of output`
      child.kill('SIGKILL')
    }
  })
  errors?.on('data', (chunk: Buffer) => {
    error = (error + chunk.toString()).slice(-limits.DETECTED_ERROR_LENGTH_MAX)
  })
  // A child that has ended reads no more.
  input?.on('error', () => undefined)
  input?.end(JSON.stringify(job))
  return new Promise((resolve) => {
    child.on('error', ({ message }) => {
      callOff()
      resolve(endOf([], `its process cannot be started: ${message}`))
    })
    child.on('close', (code, signal) => {
      callOff()
      const lines = Buffer.concat(texts).toString().split('\n').slice(0, -1)
      const end = `its process ended with ${signal ?? `code ${code}`}: ${error.trim()}`
      resolve(endOf(lines, stopped ?? end))
    })
  })
}

function endOf(lines: readonly string[], why: string): ChildEnd {
  const ended = new Map<number, CaseResult>()
  let begun: number | undefined
  for (const line of lines) {
    const { kind, number, ...result } = JSON.parse(line) as JobLine & CaseResult
    begun = kind === 'begun' ? number : undefined
    if (kind === 'ended') ended.set(number, result)
  }
  return { ended, begun, why }
}

const always = ['--no-warnings', '--enable-source-maps']

/** Where Node can, it takes from the process what no block's code needs; a search debugs. */
function permissions({ isSearching }: Job): readonly string[] {
  if (isSearching) return []
  const flag = ['--permission', '--experimental-permission'].find((name) =>
    process.allowedNodeEnvironmentFlags.has(name)
  )
  return flag === undefined ? [] : [flag, '--allow-fs-read=*', '--allow-addons']
}
