import {
  canonicalizeLedgerValue,
  type Hash,
  isTallyError,
  parse,
  sha256Hex,
  unreachable
} from '../../core/index.js'
import { storageKey } from '../permissions/keys.js'
import type {
  SandboxCall,
  SandboxFacts,
  SandboxFailureCode,
  SandboxOutcome,
  SealedAnswer
} from './outcome.js'
import type { GuestReport } from './protocol.js'

/**
 * Names what an execution came to. Pure: the same report and recorded results give the same
 * outcome.
 */
export function judge(options: {
  readonly report: GuestReport
  readonly packageId: string
  readonly recorded: readonly SealedAnswer[]
}): SandboxOutcome {
  const { report, packageId, recorded } = options
  const { gasTicks, used, denied, ending } = report
  const facts: SandboxFacts = { gasTicks, used, denied }
  const failed = (code: SandboxFailureCode, message: string): SandboxOutcome => ({
    kind: 'failed',
    code,
    message,
    isDeterministic: true,
    ...facts
  })
  if (report.exceeded !== undefined) return failed(report.exceeded, 'a limit was exceeded')
  if (report.engineFault !== undefined) {
    return {
      kind: 'failed',
      code: 'engine_failed',
      message: report.engineFault,
      isDeterministic: false
    }
  }
  if (ending.kind === 'not_loaded') return failed('not_loaded', `${ending.name}: ${ending.message}`)
  const calls = canonicalCalls(report)
  if ('problem' in calls) return failed('invalid_value', calls.problem)
  const diverged = divergence(calls, recorded, report.divergedAt)
  if (diverged !== undefined) return failed('diverged', diverged)
  switch (ending.kind) {
    case 'thrown':
    case 'unfit': {
      const code = ending.kind === 'unfit' ? 'invalid_value' : 'thrown'
      const message = `${ending.name}: ${ending.message}`
      return failed(isStackOverflow(ending) ? 'stack_exceeded' : code, message)
    }
    case 'pending':
    case 'done': {
      const answered = new Set(recorded.map(({ seq }) => seq))
      const open = calls.filter(({ seq }) => !answered.has(seq))
      if (open.length > 0) return { kind: 'call', calls: open, ...facts }
      if (ending.kind === 'pending') {
        return failed('never_settled', 'run waits for something that cannot happen')
      }
      return finished({ report, packageId, resultText: ending.text, calls, facts, failed })
    }
    default:
      return unreachable(ending)
  }
}

function finished(options: {
  readonly report: GuestReport
  readonly packageId: string
  readonly resultText: string
  readonly calls: readonly SandboxCall[]
  readonly facts: SandboxFacts
  readonly failed: (code: SandboxFailureCode, message: string) => SandboxOutcome
}): SandboxOutcome {
  const { report, packageId, calls, facts, failed } = options
  const result = canonical(options.resultText)
  if ('problem' in result) return failed('invalid_value', `the result: ${result.problem}`)
  const writes = new Map<string, string | null>()
  for (const [name, text] of report.writes) {
    const key = storageKey(packageId, name)
    if (key === undefined) return failed('invalid_key', `the storage key ${JSON.stringify(name)}`)
    const value = text === null ? { text } : canonical(text)
    if ('problem' in value) return failed('invalid_value', `the value of ${name}: ${value.problem}`)
    writes.set(key, value.text)
  }
  return { kind: 'done', resultText: result.text, writes, calls, ...facts }
}

function canonicalCalls(
  report: GuestReport
): readonly SandboxCall[] | { readonly problem: string } {
  const calls: SandboxCall[] = []
  for (const { seq, capability, text } of report.calls) {
    const request = canonical(text)
    if ('problem' in request) return { problem: `the request to ${capability}: ${request.problem}` }
    const requestHash = sha256Hex(request.text)
    calls.push({ seq, capability, requestText: request.text, requestHash })
  }
  return calls
}

function divergence(
  calls: readonly SandboxCall[],
  recorded: readonly SealedAnswer[],
  divergedAt: number | undefined
): string | undefined {
  if (divergedAt !== undefined) return `call ${divergedAt} was not made again`
  for (const { seq, requestHash } of recorded) {
    const actual: Hash | undefined = calls[seq]?.requestHash
    if (actual === undefined) return `call ${seq} was not made again`
    if (actual !== requestHash) return `call ${seq} asks for something else than before`
  }
  return undefined
}

function canonical(text: string): { readonly text: string } | { readonly problem: string } {
  try {
    return { text: canonicalizeLedgerValue(parse(text)) }
  } catch (error) {
    if (!isTallyError(error)) throw error
    return { problem: error.message }
  }
}

// The engine's parsers say it with a SyntaxError.
function isStackOverflow({ name, message }: { readonly name: string; readonly message: string }) {
  return message === 'stack overflow' && (name === 'InternalError' || name === 'SyntaxError')
}
