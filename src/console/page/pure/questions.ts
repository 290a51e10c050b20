import type { Json, JsonObject } from '../../../core/index.js'

/** Of a wait, what its words are made from. */
export interface Asked {
  readonly reason: string
  readonly request: Json
  readonly actions: readonly string[]
}

const isObject = (value: Json | undefined): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

const textIn = (value: Json | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined

/** What an outcome that is not known is of, or undefined where none is. */
export function unknownOutcomeOf({ request }: Asked): string | undefined {
  return isObject(request) ? textIn(request['unknown_outcome']) : undefined
}

/** What is asked, in one line. */
export function questionOf(wait: Asked): string {
  const { reason, request } = wait
  const effect = unknownOutcomeOf(wait)
  if (effect !== undefined) return `Did ${effect} happen?`
  if (!isObject(request)) return reason
  const message = textIn(request['message'])
  if (message !== undefined) return message
  const inner = isObject(request['request']) ? request['request'] : undefined
  const signal = textIn(request['signal'])
  if (signal !== undefined) return `For the signal ${signal}`
  const need = textIn(inner?.['need'])
  if (need !== undefined) return `Needs: ${need}`
  const dapp = textIn(inner?.['dappId'])
  const capabilities = inner?.['capabilities']
  if (reason === 'permission' && dapp !== undefined && Array.isArray(capabilities)) {
    return `${dapp} asks for ${capabilities.length} capabilities`
  }
  const action = textIn(inner?.['actionRef'])
  if (action !== undefined) return action
  const failed = textIn(request['reason'])
  return failed === undefined ? reason : `Failed: ${failed}`
}

/** What is asked, member by member: the request itself, without the frame around it. */
export function membersAsked({ request }: Asked): readonly (readonly [string, Json])[] {
  if (!isObject(request)) return [['request', request]]
  const { message: _said, payload, ...rest } = request
  if (isObject(payload)) return [...Object.entries(payload), ...Object.entries(rest)]
  const { request: inner, ...others } = rest
  const members = isObject(inner) ? { ...inner, ...others } : request
  return Object.entries(members)
}

/** Words of an answer, and its key; what a wait can be answered with is in its `actions`. */
export interface AnswerWords {
  readonly verb: string
  readonly key: string
  readonly tone: 'yes' | 'no' | 'plain'
  /** It takes a value: any JSON, or a merge patch. */
  readonly takes: 'value' | 'patch' | null
}

export function answerWords(action: string, wait: Asked): AnswerWords {
  const isUnknown = unknownOutcomeOf(wait) !== undefined
  const isDecision = wait.reason === 'decision'
  switch (action) {
    case 'approve':
      return { verb: 'Approve exactly this', key: 'a', tone: 'yes', takes: null }
    case 'deny':
      return { verb: 'Deny', key: 'd', tone: 'no', takes: null }
    case 'resume': {
      const verb = isDecision ? 'It happened: give the result' : 'Give the value'
      return { verb, key: 'r', tone: 'plain', takes: 'value' }
    }
    case 'retry':
      return {
        verb: isUnknown ? 'Send it again' : 'Try again',
        key: 't',
        tone: 'plain',
        takes: null
      }
    case 'patch':
      return { verb: 'Change the input', key: 'p', tone: 'plain', takes: 'patch' }
    case 'skip':
      return { verb: 'Skip, take as done', key: 's', tone: 'plain', takes: null }
    case 'abort': {
      const verb = isUnknown ? 'It did not happen' : 'Let it fail'
      return { verb, key: 'x', tone: 'no', takes: null }
    }
    default:
      return { verb: action, key: '', tone: 'plain', takes: null }
  }
}
