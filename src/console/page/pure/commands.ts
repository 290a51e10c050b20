import { answerWords } from './questions.js'
import { isObject } from './widgets.js'

/**
 * Commands of `tally` that do what the page does, as words. A test gives them to the command line.
 */

type Words = readonly string[]

export const showCommand = (run: string): Words => ['show', run, '--journal']
export const diagnoseCommand = (run: string): Words => ['diagnose', run]
export const queueCommand = (queue: string): Words => ['queues', queue]
export const noteCommand: Words = ['note']

export function cancelCommand(run: string, reason: string): Words {
  return ['cancel', run, ...(reason === '' ? [] : ['--reason', reason])]
}

/** Pauses a schedule that begins runs, or lets one go on that is paused. */
export function scheduleCommand(schedule: string, isPaused: boolean): Words {
  return ['schedules', schedule, isPaused ? '--resume' : '--pause']
}

type Answered = Parameters<typeof answerWords>[1] & {
  readonly token: string
  readonly digest: string
}

/** Gives one answer, bound to the digest; a value that is not there yet is to be put in. */
export function answerCommand(run: string, wait: Answered, action: string, value = ''): Words {
  const { token, digest } = wait
  const bound = ['--digest', digest]
  if (action === 'approve' || action === 'deny') return [action, run, token, ...bound]
  if (action === 'signal') return signalCommand(run, wait, value)
  const { takes } = answerWords(action, wait)
  const given = takes === null ? [] : ['--value', value.trim() === '' ? 'JSON' : value]
  return ['resume', run, token, '--action', action, ...given, ...bound]
}

/** Sends what a wait is for; the wait shows its name. */
function signalCommand(run: string, { request }: Answered, value: string): Words {
  const name = isObject(request) ? String(request['signal']) : 'NAME'
  return ['signal', run, name, '--value', value.trim() === '' ? 'JSON' : value]
}

const MEMORY = 'memory:'

/** A command line of a shell, with the ledger: it is called from anywhere. */
export function commandLine(words: Words, location: string | undefined): string {
  const isThere = location !== undefined && location !== MEMORY
  const where = isThere ? ['--dir', location] : []
  return ['tally', ...words, ...where].map(shellWord).join(' ')
}

/** As POSIX shells read it: one word, whatever is in it. */
function shellWord(text: string): string {
  return /^[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
