/** An MCP server that answers each call with the JSON text that its environment gives. */
let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop() ?? ''
  for (const line of lines) answer(JSON.parse(line))
})

function answer({ id, method }) {
  if (id === undefined) return
  process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${resultOf(method)}}\n`)
}

function resultOf(method) {
  if (method === 'initialize') {
    const serverInfo = { name: 'raw', version: '1' }
    return JSON.stringify({
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo
    })
  }
  if (method === 'tools/list') {
    // The largest value is no number that JavaScript holds.
    const schema =
      '{"type":"object","properties":{"n":{"type":"integer","maximum":18446744073709551615}}}'
    return `{"tools":[{"name":"say","inputSchema":${schema}}]}`
  }
  return `{"content":[],"structuredContent":${process.env.ANSWER}}`
}
