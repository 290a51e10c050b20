import { exactJsonInTurns, type Json, limits } from '../../core/index.js'
import { turnFailure } from './failures.js'
import { Lines } from './lines.js'

/**
 * JSON values from bytes that come in pieces, one a line; undefined in place of what is not JSON.
 * Numbers are exact, and long lines are read in turns. Throws `response_too_large` for a line over
 * `limits.AGENT_MESSAGE_LENGTH_MAX`.
 */
export async function* jsonLines(
  chunks: AsyncIterable<Uint8Array>
): AsyncGenerator<Json | undefined> {
  const decoder = new TextDecoder('utf-8')
  const lengthMax = limits.AGENT_MESSAGE_LENGTH_MAX
  const lines = new Lines(lengthMax)
  for await (const chunk of chunks) {
    const complete = lines.take(decoder.decode(chunk, { stream: true }))
    if (complete === undefined) throw turnFailure('response_too_large', { lengthMax })
    for (const line of complete) {
      if (line.trim() !== '') yield await jsonOf(line)
    }
  }
}

async function jsonOf(line: string): Promise<Json | undefined> {
  try {
    // What is read is plain JSON.
    return (await exactJsonInTurns(line)) as Json
  } catch {
    return undefined
  }
}
