import { describe, expect, it } from 'vitest'
import { redactorOf } from '../../../src/agent/binding/given-secrets.js'
import { connectMcpServer } from '../../../src/agent/index.js'
import { formsIn } from '../../support/secrets.js'

describe('K16: what a program hands to a server beside its settings', () => {
  it('is secret where its name says so, also without the scheme of a header', () => {
    const basic = `Basic ${Buffer.from('user:pass-word-1').toString('base64')}`
    const redactor = redactorOf(
      {
        authorization: 'Bearer abcdefgh-1',
        'proxy-authorization': basic,
        'X-Api-Key': 'abcdefgh-2',
        GITHUB_TOKEN: 'abcdefgh-3',
        'content-type': 'application/json',
        DATABASE_URL: 'postgres://user:pass-word-2@db.example/data'
      },
      'mcp.files'
    )
    const text = 'abcdefgh-1 pass-word-1 abcdefgh-2 abcdefgh-3 application/json pass-word-2'
    expect(redactor.text(text)).toBe(
      '[mcp.files.authorization] [mcp.files.proxy-authorization] [mcp.files.X-Api-Key] ' +
        '[mcp.files.GITHUB_TOKEN] application/json [mcp.files.DATABASE_URL]'
    )
    expect(redactorOf(undefined, 'pi').isEmpty).toBe(true)
  })

  it('is known to the providers of an MCP server', async () => {
    const fixture = new URL('../agent-mcp/fixtures/tools.mjs', import.meta.url).pathname
    const secret = 'a-token-of-4711'
    const server = await connectMcpServer({
      name: 'calc',
      place: {
        command: process.execPath,
        arguments: [fixture],
        environment: { CALC_TOKEN: secret, CALLS_FILE: '/dev/null' }
      }
    })
    await server.close()
    expect(server.providers.length).toBeGreaterThan(0)
    for (const { redactor } of server.providers) {
      const text = redactor?.text(`you sent ${encodeURIComponent(secret)}`) ?? secret
      expect(formsIn(text, secret)).toEqual([])
      expect(text).toContain('[mcp.calc.CALC_TOKEN]')
    }
  })
})
