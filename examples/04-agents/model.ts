import type { ChatScene } from 'tallystick/testing'

/** A model that knows one task: it answers by what it is asked for, so that the example repeats. */
export function scriptedModel({ body }: { readonly body: unknown }): ChatScene {
  const asked = JSON.stringify(body)
  const usage = { inputTokens: 120, outputTokens: 40 }
  const chunkLength = 12
  if (asked.includes('canComplete')) {
    // A first draft without a date is not good enough.
    const isDone = asked.includes('on Friday')
    const score = isDone ? 0.9 : 0.4
    const reason = isDone ? 'All that is asked for is there.' : 'The day is missing.'
    return answer({ score, canComplete: isDone, reason })
  }
  if (asked.includes('conforms to the following schema')) {
    return answer({ steps: [{ title: 'Say who is invited' }, { title: 'Say when' }] })
  }
  const text = asked.includes('The day is missing.')
    ? 'All of you are invited to the harbour on Friday.'
    : 'All of you are invited to the harbour.'
  return { text, usage, chunkLength }

  function answer(value: unknown): ChatScene {
    return { text: JSON.stringify(value), usage, chunkLength }
  }
}
