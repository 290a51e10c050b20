import { describe, expect, it } from 'vitest'
import { checkOnce } from '../../../../src/block/index.js'
import type { BodyPort } from '../../../../src/code/block.js'
import { defineBlock } from '../../../../src/code/index.js'
import type { Hash, Json } from '../../../../src/core/index.js'

/** The code of a workflow function that makes two calls and ends with the first answer. */
const racing = {
  ...defineBlock({ name: 'racing', version: '1.0.0', sideEffects: 'none', run: () => null }),
  body: {
    run: ({ context }: BodyPort) =>
      Promise.race([context.sleep(5).then(() => 'short'), context.sleep(50).then(() => 'long')])
  }
}

interface Given {
  readonly seq: number
  readonly effect?: string
  readonly requestHash?: string
  readonly body?: Json
}

function executed(given: readonly Given[]) {
  const recordedResults = given.map(({ seq, effect = 'timer', body = null, ...rest }) => {
    const { requestHash } = rest
    const answer = { seq, effect, ok: true, body }
    return requestHash === undefined ? answer : { ...answer, requestHash: requestHash as Hash }
  })
  return checkOnce(racing, { input: null, state: {}, recordedResults })
}

describe('D3, B12: answers that come behind the end of the code of a workflow function', () => {
  it('change nothing of its end', async () => {
    const { asked } = await executed([{ seq: 1 }])
    const requestHash = asked[1]?.split(' ')[1] ?? ''
    const { executed: result } = await executed([{ seq: 1 }, { seq: 2, requestHash }])
    expect(result).toMatchObject({ kind: 'settled', outcome: { ok: true, text: '"short"' } })
  })

  it.each([
    ['a call that was answered before', { seq: 1 }, 'sealed.1', 'no such call'],
    ['a call that it has not made', { seq: 3 }, 'sealed.3', 'no such call'],
    ['another effect', { seq: 2, effect: 'wait' }, 'sealed.2', 'timer'],
    ['another request', { seq: 2, requestHash: 'a'.repeat(64) }, 'sealed.2.requestHash', undefined]
  ])('are findings where they answer %s', async (_, forged, field, computed) => {
    const { executed: result } = await executed([{ seq: 1 }, forged])
    expect(result).toMatchObject({
      kind: 'diverged',
      isUnanswered: false,
      finding: { field, ...(computed === undefined ? {} : { computed }) }
    })
  })
})
