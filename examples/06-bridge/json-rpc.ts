/** How the programs of this example reach a node; tests put faults in its place. */
export type Post = (url: string, body: string) => Promise<string>

const overHttp: Post = async (url, body) => {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body })
  return answer.text()
}

/** One call of JSON-RPC; throws what the node refuses. */
export type Call = <Result>(method: string, ...params: readonly unknown[]) => Promise<Result>

export function callerOf(url: string, post: Post = overHttp): Call {
  return async <Result>(method: string, ...params: readonly unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const { result, error } = JSON.parse(await post(url, body)) as {
      readonly result?: Result
      readonly error?: { readonly message: string }
    }
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result as Result
  }
}
