import { describe, expect, it } from 'vitest'
import { exitCodeOf, exitCodes } from '../../../src/cli/frame/exit-codes.js'
import { errorDocument, Output } from '../../../src/cli/frame/output.js'
import { text } from '../../../src/cli/frame/text.js'
import {
  anyError,
  blockError,
  cliError,
  type ErrorCode,
  errorCatalogue,
  Redactor
} from '../../../src/core/index.js'
import { formsIn } from '../../support/secrets.js'

class Screen {
  readonly isTTY: boolean
  readonly columns = 20
  shown = ''

  constructor(isTTY: boolean) {
    this.isTTY = isTTY
  }

  write(chunk: string, done?: () => void): boolean {
    this.shown += chunk
    done?.()
    return true
  }
}

function outputOn(options: {
  readonly isTerminal: boolean
  readonly isJson?: boolean
  readonly environment?: Readonly<Record<string, string>>
  readonly redactor?: Redactor
}) {
  const stdout = new Screen(options.isTerminal)
  const stderr = new Screen(options.isTerminal)
  const { isJson = false, environment = {}, redactor = new Redactor() } = options
  const output = new Output({ stdout, stderr, isJson, environment, redactor })
  return { stdout, stderr, output }
}

const ESCAPE = '\u001b['

describe('Output', () => {
  it('paints on terminals only, and honours NO_COLOR', () => {
    const painted = (options: Parameters<typeof outputOn>[0]) => {
      const { output, stdout } = outputOn(options)
      output.line(text`${output.paint('red', 'x')}`)
      return stdout.shown
    }
    expect(painted({ isTerminal: true })).toContain(ESCAPE)
    expect(painted({ isTerminal: false })).toBe('x\n')
    expect(painted({ isTerminal: true, environment: { NO_COLOR: '1' } })).toBe('x\n')
    expect(painted({ isTerminal: true, environment: { TERM: 'dumb' } })).toBe('x\n')
  })

  it('keeps live lines below the last line, cut to the width, and clears them', () => {
    const { output, stdout } = outputOn({ isTerminal: true, environment: { NO_COLOR: '1' } })
    output.live([text`${'long '.repeat(10)}`])
    expect(stdout.shown).toBe('long long long lon…\n')
    output.line(text`done`)
    expect(stdout.shown.endsWith(`${ESCAPE}1A${ESCAPE}0Jdone\nlong long long lon…\n`)).toBe(true)
    output.live([])
    expect(stdout.shown.endsWith(`${ESCAPE}1A${ESCAPE}0J`)).toBe(true)
  })

  it.each([
    ['lines for people', false],
    ['documents', true]
  ])('K16: writes no secret that the command knows, in %s', (_name, isJson) => {
    const redactor = new Redactor()
    const secret = 'two\nlines "of" a key'
    redactor.know('file:/run/"key"', secret)
    const { output, stdout, stderr } = outputOn({ isTerminal: true, isJson, redactor })
    output.line(text`a ${'two lines'} b`)
    output.file(`begin\n${secret}\nend\n`)
    output.document('result', { secret, base64: Buffer.from(`u:${secret}`).toString('base64') })
    output.log(text`hex ${Buffer.from(secret).toString('hex')}`)
    output.live([text`${encodeURIComponent(secret)}`])
    const cause = new Error(`told ${JSON.stringify(secret)}`, { cause: new Error(secret) })
    output.error(cliError('cli.usage', { problem: secret }, { cause }))
    expect(formsIn(stdout.shown + stderr.shown, secret)).toEqual([])
    expect(stdout.shown + stderr.shown).not.toContain('of" a')
    expect(stdout.shown + stderr.shown).toContain('[file:/run/')
    if (!isJson) return
    for (const line of stdout.shown.trimEnd().split('\n')) JSON.parse(line)
  })

  it('draws nothing live where the output is no terminal', () => {
    const { output, stdout } = outputOn({ isTerminal: false })
    output.live([text`busy`])
    expect(stdout.shown).toBe('')
  })

  it('with --json writes documents only, and errors as documents', () => {
    const { output, stdout, stderr } = outputOn({ isTerminal: true, isJson: true })
    output.line(text`for people`)
    output.document('run', { id: 'a' })
    output.error(blockError('run.not_found', { runId: 'b' }))
    expect(
      stdout.shown
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    ).toEqual([
      { $type: 'run', id: 'a' },
      expect.objectContaining({ $type: 'error', code: 'run.not_found', cause: null })
    ])
    expect(stderr.shown).toBe('')
  })
})

describe('errors', () => {
  it('say what happened, why, and what to do', () => {
    const cause = new Error('outer', { cause: new Error('inner') })
    const error = blockError('run.not_found', { runId: 'b' }, { cause })
    expect(errorDocument(error)).toEqual({
      code: 'run.not_found',
      message: 'There is no run b in this ledger.',
      cause: 'outer: inner',
      fix: 'List the runs with "tally runs".'
    })
    const system = Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    expect(errorDocument(system)).toMatchObject({ code: 'system.ENOSPC', cause: null })
    expect(errorDocument('text').code).toBe('system.unexpected')
  })

  it('end the process by their class', () => {
    const codes = Object.keys(errorCatalogue) as ErrorCode[]
    // Any context will do: the code alone decides.
    const codeOf = (code: ErrorCode) => exitCodeOf(anyError(code, {} as never))
    expect(codes.filter((code) => codeOf(code) === exitCodes.done)).toEqual([])
    expect(codeOf('ledger.locked')).toBe(5)
    expect(codeOf('ledger.poisoned')).toBe(5)
    expect(codeOf('ledger.safe_mode')).toBe(5)
    expect(codeOf('owner.disconnected')).toBe(5)
    expect(codeOf('ledger.corrupt')).toBe(3)
    expect(codeOf('document.malformed')).toBe(2)
    expect(codeOf('identity.wrong_passphrase')).toBe(2)
    expect(codeOf('core.internal')).toBe(1)
    expect(exitCodeOf(new Error('anything'))).toBe(1)
  })
})
