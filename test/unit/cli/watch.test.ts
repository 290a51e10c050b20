import { describe, expect, it } from 'vitest'
import { Output } from '../../../src/cli/frame/output.js'
import { columnsOf, fitted, painter } from '../../../src/cli/frame/text.js'
import { listenToKeys } from '../../../src/cli/watch/keys.js'
import { ageText, watchPicture } from '../../../src/cli/watch/watch-rows.js'
import { type WatchedLine, WatchedRuns } from '../../../src/cli/watch/watched-runs.js'
import { limits, type RunId } from '../../../src/core/index.js'

const MINUTE = 60_000
const NOW = 1_700_000_000_000

function line(id: string, more: Partial<WatchedLine> = {}): WatchedLine {
  return {
    id: id as RunId,
    name: 'order',
    status: 'running',
    startedAt: NOW - 3 * MINUTE,
    updatedAt: NOW - MINUTE,
    waits: [],
    due: null,
    quarantined: false,
    failure: null,
    notChecked: [],
    ...more
  }
}

function waiting(id: string, token = 'w1', request: string | object = 'ship it?'): WatchedLine {
  const wait = { token, reason: 'confirmation', request, path: 'root/pay', step: 3 }
  return line(id, { status: 'waiting', waits: [wait as never] })
}

const settled = { k: 'settled', path: 'root/pack', step: 2, attempt: 1 }

describe('WatchedRuns', () => {
  const changes = (...lines: readonly WatchedLine[]) => {
    const runs = new WatchedRuns()
    return lines.map((one) => runs.take(one, NOW)?.change)
  }
  const done = line('a', { status: 'done' })
  const asks = line('a', { waits: waiting('a').waits })

  it.each([
    ['a run that begins, waits, continues and ends', [line('a'), waiting('a'), line('a'), done]],
    ['a second wait', [waiting('a'), waiting('a', 'w2')]],
    ['a step that waits while others continue', [line('a'), asks, asks, line('a'), done]],
    ['one that was over when it was heard of', [done, done]],
    ['a mark', [line('a'), line('a', { quarantined: true }), line('a', { quarantined: true })]]
  ])('tells of %s', (name, lines) => {
    const expected: Record<string, readonly (string | undefined)[]> = {
      'a run that begins, waits, continues and ends': ['started', 'waiting', 'running', 'done'],
      'a second wait': ['waiting', 'waiting'],
      'a step that waits while others continue': [
        'started',
        'waiting',
        undefined,
        'running',
        'done'
      ],
      'one that was over when it was heard of': ['done', undefined],
      'a mark': ['started', 'quarantined', undefined]
    }
    expect(changes(...lines)).toEqual(expected[name])
  })

  it('says nothing of what was there, and knows a step that comes before its run', () => {
    const runs = new WatchedRuns()
    runs.begin(line('a'), null)
    expect(runs.take(line('a'), NOW)).toBeUndefined()
    expect(runs.step('a' as RunId, settled)).toMatchObject({ change: 'step' })
    expect(runs.step('a' as RunId, settled)).toBeUndefined()
    expect(runs.step('b' as RunId, settled)).toBeUndefined()
    expect(runs.take(line('b'), NOW)?.run.step).toEqual({ path: 'root/pack', step: 2, attempt: 1 })
    expect(runs.step('b' as RunId, { k: 'settled', path: 'root', step: 0 })).toBeUndefined()
  })

  it('keeps a bounded number of runs, and open ones before those that have ended', () => {
    const runs = new WatchedRuns()
    runs.begin(line('open', { updatedAt: 0 }), null)
    for (let at = 0; at < limits.WATCH_RUNS_MAX + 9; at += 1) {
      runs.take(line(`run-${at}`, { status: 'done', updatedAt: at }), NOW)
    }
    expect(runs.all).toHaveLength(limits.WATCH_RUNS_MAX)
    expect(runs.left).toBe(10)
    expect(runs.has('open' as RunId)).toBe(true)
    expect(runs.has('run-9' as RunId)).toBe(false)
  })
})

const plain = painter(false)
const hostile = [
  '\u001b[2J\u001b]0;x\u0007',
  'a\r\nb\u2028c',
  '\u202eevil\u2066',
  '漢字'.repeat(30),
  '🧨'.repeat(30),
  'é'.repeat(99),
  '\ud800'
]

describe('the table of a watch', () => {
  const shown = (
    runs: WatchedRuns,
    {
      columns = 100,
      rows = 24,
      paint = plain,
      hasBegun = true,
      mode = undefined as string | undefined
    } = {}
  ) => {
    const picture = { runs, hasBegun, ledger: '.tally', mode, now: NOW }
    return watchPicture(paint, picture, { columns, rows }).map(({ value }) => value)
  }

  it('says until when a run sleeps, and in which queue one waits for its turn', () => {
    const runs = new WatchedRuns()
    runs.begin(line('sleeps', { status: 'waiting', due: NOW + MINUTE }), null)
    runs.begin(line('queued', { queued: { name: 'orders' } }), null)
    const rows = shown(runs).join('\n')
    expect(rows).toMatch(/sleeps .* until 2023-11-14 22:14:20/)
    expect(rows).toMatch(/queued .* queued in orders/)
  })

  it('has what waits first, then what runs, then what has ended, and marks what is new', () => {
    const runs = new WatchedRuns()
    runs.begin(line('done', { status: 'done' }), null)
    runs.begin(line('runs'), { path: 'root/pack', step: 2, attempt: 3 })
    runs.take(line('lost', { status: 'failed', failure: 'no_luck' }), NOW - 1)
    runs.take(waiting('asks', 'w1', { reason: 'confirmation', request: 'Ship?' }), NOW - 1)
    runs.take(line('over', { status: 'done' }), NOW - limits.WATCH_FRESH_MS)
    expect(shown(runs)).toEqual([
      'tally watch .tally  1 waiting, 1 running, 1 failed',
      '',
      '  RUN   DOCUMENT  STATUS   AGE  STEP               WAITS FOR',
      '! asks  order     waiting  1m   pay 3              confirmation "Ship?"',
      '  runs  order     running  3m   pack 2, attempt 3',
      '  done  order     done     1m                    ',
      '! lost  order     failed   1m                      no_luck',
      '  over  order     done     1m                    ',
      '',
      'q ends'
    ])
    expect(shown(runs, { mode: 'safe: a link' })[0]).toContain('safe: a link · 1 waiting')
    expect(shown(runs, { rows: 8 }).slice(3, -2)).toEqual([
      expect.stringContaining('asks'),
      expect.stringContaining('runs'),
      '  … 3 more'
    ])
  })

  it('says that there are no runs once it knows that', () => {
    const runs = new WatchedRuns()
    expect(shown(runs)).toContain('  no runs yet')
    expect(shown(runs, { hasBegun: false })).toContain('  reading the ledger…')
  })

  it('T23: fits any width, whatever names and requests hold, and steers no terminal', () => {
    const runs = new WatchedRuns()
    for (const [at, text] of hostile.entries()) {
      runs.begin(line(`${text}${at}`, { name: text, failure: text, status: 'failed' }), null)
      const request = { reason: 'external', request: text.toWellFormed() }
      runs.take({ ...waiting(`w${text}${at}`, 'w', request), notChecked: [text] }, NOW)
    }
    for (const columns of [1, 8, 20, 39, 60, 80, 90, 200]) {
      for (const paint of [plain, painter(true)]) {
        for (const one of shown(runs, { columns, paint, rows: 50 })) {
          // biome-ignore lint/suspicious/noControlCharactersInRegex: those of colours alone.
          const text = one.replace(/\u001b\[\d{1,2}m/g, '')
          expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
          expect(columnsOf(text)).toBeLessThanOrEqual(Math.max(columns, 2))
        }
      }
    }
    expect(shown(runs, { columns: 50 })[2]).toMatch(/^ {2}RUN +STATUS {3}AGE {2}WAITS FOR$/)
  })

  it('shortens ages and texts', () => {
    expect([0, 999, 59_999, MINUTE, 90 * MINUTE, 49 * 60 * MINUTE].map(ageText)).toEqual([
      '0s',
      '0s',
      '59s',
      '1m',
      '1h',
      '2d'
    ])
    expect(fitted('漢字漢字', 5)).toBe('漢字…')
    expect(fitted('abc', 3)).toBe('abc')
    expect(fitted('abc', 0)).toBe('')
  })
})

/** A terminal that takes what is written when it is told to. */
class Terminal {
  readonly isTTY = true
  columns = 40
  rows = 4
  readonly writes: string[] = []
  readonly #taken: (() => void)[] = []
  #resized: () => void = () => undefined

  write(chunk: string, done?: () => void): boolean {
    this.writes.push(chunk)
    if (done !== undefined) this.#taken.push(done)
    return true
  }

  on(_: 'resize', listener: () => void): void {
    this.#resized = listener
  }

  off(): void {
    this.#resized = () => undefined
  }

  resize(columns: number): void {
    this.columns = columns
    this.#resized()
  }

  take(): void {
    for (const done of this.#taken.splice(0)) done()
  }
}

describe('Screen', () => {
  it('draws over the last picture in one write, waits for the terminal, and gives it back', async () => {
    const stdout = new Terminal()
    const output = new Output({ stdout, stderr: stdout, isJson: false, environment: {} })
    let count = 0
    const screen = await output.screen(({ columns }) => {
      count += 1
      return [painter(false)('bold', `${columns}`), painter(false)('bold', 'line')]
    })
    screen?.draw()
    screen?.draw()
    expect(count).toBe(1)
    expect(stdout.writes).toHaveLength(2)
    expect(stdout.writes[1]).toContain('\u001b[H\u001b[K40\r\n\u001b[Kline')
    // Nothing is cleared before it is drawn.
    expect(stdout.writes[1]).not.toContain('\u001b[2J')
    stdout.resize(30)
    expect(stdout.writes).toHaveLength(2)
    screen?.close()
    screen?.close()
    stdout.take()
    expect(stdout.writes.slice(2)).toEqual(['\u001b[?7h\u001b[?25h\u001b[?1049l'])
  })

  it('is there on a terminal alone', async () => {
    const stdout = new Terminal()
    const of = (isJson: boolean, environment: Readonly<Record<string, string>>) =>
      new Output({ stdout, stderr: stdout, isJson, environment }).screen(() => [])
    expect(await of(true, {})).toBeUndefined()
    expect(await of(false, { TERM: 'dumb' })).toBeUndefined()
    expect(stdout.writes).toEqual([])
  })
})

describe('keys', () => {
  it('end a watch, and give the terminal back', () => {
    let heard: (keys: string) => void = () => undefined
    const raw: boolean[] = []
    const source = {
      isTTY: true,
      setRawMode: (isRaw: boolean) => raw.push(isRaw),
      setEncoding: () => undefined,
      resume: () => undefined,
      pause: () => undefined,
      on: (_: 'data', listener: typeof heard) => {
        heard = listener
      },
      off: () => undefined
    }
    const pressed: string[] = []
    const stop = listenToKeys(
      { ends: () => pressed.push('ends'), interrupted: () => pressed.push('interrupted') },
      source
    )
    heard('xq')
    heard('\u0003')
    heard('\u0004')
    stop()
    expect(pressed).toEqual(['ends', 'interrupted', 'ends'])
    expect(raw).toEqual([true, false])
  })
})
