import { limits } from '../../core/index.js'

/** Carries one JSON-RPC body to an endpoint; rejects when no complete answer came back. */
export type RpcTransport = (request: RpcRequest) => Promise<RpcReply>

/** A request to an endpoint of a chain, as it goes over the wire. */
export interface RpcRequest {
  readonly url: string
  readonly body: string
  readonly signal: AbortSignal
}

/** What an endpoint answered, before it is read. */
export interface RpcReply {
  readonly status: number
  readonly text: string
  /** Header `retry-after` of a refusal, as it stands there. */
  readonly retryAfter?: string | null
}

/** Over HTTP; follows no redirect, since the next host would learn the key in the address. */
export const httpTransport: RpcTransport = async ({ url, body, signal }) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal,
    redirect: 'error'
  })
  const retryAfter = response.headers.get('retry-after')
  return { status: response.status, text: await boundedText(response), retryAfter }
}

async function boundedText(response: Response): Promise<string> {
  if (response.body === null) return ''
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    // Leaving the loop cancels the rest of the body.
    if (bytes > limits.RPC_RESPONSE_BYTES_MAX) throw new OversizedReply()
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** An endpoint answered with more than anybody asked for. */
export class OversizedReply extends Error {
  override readonly name = 'OversizedReply'
}
