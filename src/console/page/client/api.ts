import type {
  QueryRequests,
  QueryStreams,
  ServiceRequests,
  ServiceStreams
} from '../../../runtime/index.js'

type Requests = QueryRequests & ServiceRequests
type Streams = QueryStreams & ServiceStreams

/** What the console's server answered instead of a result. */
export class ApiProblem extends Error {
  readonly code: string
  readonly fix: string | undefined

  constructor(code: string, message: string, fix?: string) {
    super(message)
    this.code = code
    this.fix = fix
  }
}

/** What the session lets the page do. */
export interface Session {
  /** The console takes no writes. */
  readonly readOnly: boolean
  /** The run that the command was asked to show. */
  readonly run: string | null
}

/** Asks for one result. Throws {@link ApiProblem}. */
export async function ask<Method extends keyof Requests & string>(
  method: Method,
  params: Requests[Method]['params'],
  signal?: AbortSignal
): Promise<Requests[Method]['result']> {
  const { result } = await (await post(`/api/${method}`, params, signal)).json()
  return result
}

/** Asks for a stream of events, to its end. Throws {@link ApiProblem}. */
export async function* asking<Method extends keyof Streams & string>(
  method: Method,
  params: Streams[Method]['params'],
  signal?: AbortSignal
): AsyncGenerator<Streams[Method]['event']> {
  const response = await post(`/api/${method}`, params, signal)
  for await (const { type, data } of sentEvents(response)) {
    if (type === 'end') return
    if (type === 'failed') throw problemIn(JSON.parse(data))
    yield JSON.parse(data)
  }
  throw new ApiProblem('console.cut', 'The console ended before it had answered all.')
}

/** Events of a stream (WHATWG HTML, server-sent events): the page needs no other member of them. */
async function* sentEvents(response: Response) {
  if (response.body === null) return
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    const blocks = (rest + decoder.decode(value, { stream: !done })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split('\n')
      const data = memberOf(lines, 'data')
      if (data !== undefined) yield { type: memberOf(lines, 'event'), data }
      else if (memberOf(lines, 'event') === 'end') yield { type: 'end', data: 'null' }
    }
    if (done) return
  }
}

function memberOf(lines: readonly string[], name: string): string | undefined {
  const line = lines.find((one) => one.startsWith(`${name}:`))
  return line?.slice(name.length + 1).trim()
}

/** Opens the session that the token of the address is for, or continues the one that is open. */
export async function openSession(token: string | undefined): Promise<Session> {
  const response = await post('/session', token === undefined ? {} : { token })
  const { result } = await response.json()
  return result
}

async function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  let response: Response
  try {
    response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'X-Tally': '1' },
      body: JSON.stringify(body),
      signal: signal ?? null
    })
  } catch (thrown) {
    if (signal?.aborted) throw thrown
    throw new ApiProblem('console.gone', 'The console does not answer. Is it still running?')
  }
  if (response.ok) return response
  throw problemIn(await response.json().catch(() => null), response.status)
}

function problemIn(body: unknown, status = 0): ApiProblem {
  const said = body !== null && typeof body === 'object' ? { ...body } : {}
  const error: Readonly<Record<string, unknown>> =
    'error' in said && said.error !== null && typeof said.error === 'object'
      ? { ...said.error }
      : said
  const { code, message, fix } = error
  return new ApiProblem(
    typeof code === 'string' ? code : status === 401 ? 'console.no_session' : 'console.refused',
    typeof message === 'string' ? message : `The console answered ${status}.`,
    typeof fix === 'string' ? fix : undefined
  )
}
