import { EffectFailure } from '../../../src/code/index.js'
import type { RpcTransport } from '../../../src/executor/evm/index.js'

interface Lines {
  readonly transport: RpcTransport
  /** The next request is answered by the first line again. */
  restart(): void
}

/** A node that answers with the input: one line for each request, `@0` is the id of its first. */
export function answeringLines(
  input: Buffer,
  identity: { readonly method: string; readonly answer: string }
): Lines {
  const lines = input.toString('utf8').split('\n')
  let asked = 0
  const transport: RpcTransport = async ({ body }) => {
    const calls = [JSON.parse(body)].flat() as readonly { id: number; method: string }[]
    const [only] = calls
    if (calls.length === 1 && only?.method === identity.method) {
      const result = JSON.stringify(identity.answer)
      return { status: 200, text: `{"jsonrpc":"2.0","id":${only.id},"result":${result}}` }
    }
    const line = lines[Math.min(asked, lines.length - 1)] ?? ''
    asked += 1
    const first = only?.id ?? 0
    return {
      status: 200,
      text: line.replace(/"@(\d)"/g, (_, offset: string) => String(first + Number(offset)))
    }
  }
  const restart = () => {
    asked = 0
  }
  return { transport, restart }
}

/** What each question comes to; failures of effects are data. */
export async function outcomesOf(
  lines: Lines,
  questions: readonly (() => Promise<unknown>)[]
): Promise<readonly unknown[]> {
  const outcomes: unknown[] = []
  for (const ask of questions) {
    lines.restart()
    outcomes.push(
      await ask().catch((thrown: unknown) => {
        if (thrown instanceof EffectFailure) return thrown.details
        throw thrown
      })
    )
  }
  return outcomes
}
