import type { Params } from './params.js'
import type { AnswerAction, AnswerParams } from './service-types.js'

const answers = [
  'approve',
  'deny',
  'resume',
  'retry',
  'patch',
  'skip',
  'abort'
] as const satisfies readonly AnswerAction[]

/** An answer to a wait, as it is given to a method; its caller reads what else there is. */
export function answerOf(params: Params): AnswerParams {
  const by = params.optionalText('by')
  const value = params.value('value')
  const commandId = params.optionalText('commandId')
  const approval = params.optionalTexts('approval', ['key', 'signature'])
  return {
    id: params.text('id'),
    token: params.text('token'),
    digest: params.text('digest'),
    action: params.word('action', answers),
    ...(by === undefined ? {} : { by }),
    ...(value === undefined ? {} : { value }),
    ...(approval === undefined ? {} : { approval }),
    ...(commandId === undefined ? {} : { commandId })
  }
}
