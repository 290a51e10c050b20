import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Block, type BlockContext, defineBlock } from '../../../../src/code/index.js'
import { exceptionIn, exceptionOf, limits, Redactor } from '../../../../src/core/index.js'
import { createRuntime, openReader } from '../../../../src/runtime/index.js'
import { ExceptionLog, thrownIn } from '../../../../src/runtime/run/exception-log.js'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-thrown-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const SECRET = 'sk-very-secret-token'
const document = {
  schema: 'tally-composite/1',
  name: 'throwing',
  version: '1.0.0',
  entry_point: 'pay',
  nodes: { pay: { block: 'code' } }
}

const blockOf = (run: (ctx: BlockContext) => unknown, rest: object = {}): Block =>
  defineBlock({ name: 'code', version: '1.0.0', run: run as never, ...rest })

async function thrownBy(block: Block, location = 'memory:', inputs: object = {}) {
  const redactor = new Redactor()
  redactor.know('token', SECRET)
  const events: unknown[] = []
  await using tally = await createRuntime({
    location,
    create: 'if-absent',
    insecurePlaintextKey: true,
    blocks: [block],
    redactor
  })
  const run = tally.begin(document, { id: 'r', inputs: inputs as never })
  for await (const event of run) if (event.type === 'exception') events.push(event)
  const { response } = await run.result
  const { exceptions } = await tally.queries.exceptions({ id: 'r' })
  const journal: unknown[] = []
  for await (const { value } of tally.ledger.journal('r' as never, 0)) journal.push(value)
  return { response, exceptions, events, journal: JSON.stringify(journal) }
}

const chained = () => {
  const cause = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
  throw new Error(`refused with ${SECRET}`, { cause })
}

describe('what code has thrown', () => {
  it('keeps its message, stack and cause for people, without secrets, in no record', async () => {
    const { exceptions, events, journal, response } = await thrownBy(blockOf(chained))
    expect(response).toMatchObject({ success: false, reason: 'block_threw' })
    const [line] = exceptions
    expect(exceptions).toHaveLength(1)
    expect(line).toMatchObject({
      run: 'r',
      path: 'root/pay',
      step: 1,
      attempt: 1,
      block: 'code',
      exception: { name: 'Error', cause: { message: 'socket hang up', code: 'ECONNRESET' } }
    })
    expect(line?.exception.message).toMatch(/^refused with /)
    expect(line?.exception.stack[0]).toMatch(/chained.*exceptions\.test\.ts:\d+/)
    expect(JSON.stringify({ exceptions, events })).not.toContain(SECRET)
    expect(events).toMatchObject([{ type: 'exception', exception: line?.exception }])
    expect(journal).not.toContain('exceptions.test.ts')
    expect(journal).not.toContain('socket hang up')
  })

  it('is kept of what performs an effect, and of a schema that names the field', async () => {
    const performing = blockOf((ctx) => ctx.effect('card.charge', chained), {
      sideEffects: 'none'
    })
    const { exceptions } = await thrownBy(performing)
    expect(exceptions).toMatchObject([{ effect: 'card.charge', seq: 1, path: 'root/pay' }])
    const { z } = await import('zod')
    const schema = blockOf(() => null, { input: z.object({ amount: z.string() }) })
    const refused = await thrownBy(schema)
    expect(refused.response).toMatchObject({ details: { problem: 'amount: invalid_type' } })
    expect(refused.exceptions).toMatchObject([
      { exception: { message: expect.stringContaining('amount: ') } }
    ])
  })

  it('says nothing of failures on purpose, and no text of a block with private input', async () => {
    expect((await thrownBy(blockOf((ctx) => ctx.fail('no_stock')))).exceptions).toEqual([])
    const hidden = blockOf(chained, { private: { input: true } })
    const { exceptions } = await thrownBy(hidden)
    expect(exceptions[0]?.exception.message).toMatch(/^withheld/)
    expect(exceptions[0]?.exception.cause?.message).toMatch(/^withheld/)
    expect(exceptions[0]?.exception.stack.length).toBeGreaterThan(0)
  })

  it('is there when the ledger is read by another process', async () => {
    const location = join(directory, 'ledger')
    const { exceptions } = await thrownBy(blockOf(chained), location)
    const reader = await openReader(location)
    const request = { method: 'exceptions', params: { id: 'r' } }
    const { signal } = new AbortController()
    expect(await reader.service({ ...request, signal } as never)).toEqual({ exceptions })
    await reader.close()
  })
})

describe('the file of exceptions', () => {
  const identity = 'a'.repeat(64) as never
  const line = (run: string, message: string) => ({
    ...{ run: run as never, at: 1, path: 'root', step: 1, attempt: 1, block: 'code' },
    exception: { name: 'Error', message, stack: [] }
  })

  it('is bounded: the older half goes when it is full', async () => {
    const log = new ExceptionLog(directory, identity)
    const message = 'x'.repeat(limits.EXCEPTION_TEXT_LENGTH_MAX)
    const count = Math.ceil((limits.EXCEPTION_LOG_BYTES_MAX / message.length) * 2)
    for (let number = 0; number < count; number += 1) log.keep(line(`r${number}`, message))
    const sizes = await Promise.all(
      ['', '.old'].map(async (half) => {
        const file = join(directory, 'exceptions', `${identity}${half}.jsonl`)
        return (await readFile(file)).length
      })
    )
    const total = sizes.reduce((sum, size) => sum + size, 0)
    expect(total).toBeLessThanOrEqual(limits.EXCEPTION_LOG_BYTES_MAX)
    expect(await thrownIn(directory, identity, `r${count - 1}` as never)).toHaveLength(1)
    expect(await thrownIn(directory, identity, 'r0' as never)).toEqual([])
  })

  it('keeps no run from failing where it cannot be written', () => {
    const log = new ExceptionLog('/dev/null/nowhere', identity)
    expect(() => log.keep(line('r', 'no'))).not.toThrow()
  })

  it('describes whatever was thrown in bounds, and reads back what it wrote', () => {
    const loop: { cause?: unknown; message: string } = { message: 'x'.repeat(100_000) }
    loop.cause = loop
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error('no')
        }
      }
    )
    for (const thrown of [
      loop,
      hostile,
      'text',
      null,
      undefined,
      5n,
      Symbol('s'),
      new Error('e')
    ]) {
      const described = exceptionOf(thrown, (text) => text)
      const json = JSON.parse(JSON.stringify(described))
      expect(exceptionIn(json)).toEqual(described)
      expect(JSON.stringify(json).length).toBeLessThan(200_000)
    }
  })
})
