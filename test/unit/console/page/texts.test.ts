import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressIn, addressText, screenNames } from '../../../../src/console/page/pure/addresses.js'
import { membersAsked, questionOf } from '../../../../src/console/page/pure/questions.js'
import {
  countText,
  shownLine,
  shownText,
  shownValue
} from '../../../../src/console/page/pure/shown-text.js'
import {
  ageText,
  dayText,
  tookText,
  untilText
} from '../../../../src/console/page/pure/time-text.js'
import { widgetsOf } from '../../../../src/console/page/pure/widgets.js'
import { limitsText, whenText } from '../../../../src/console/page/pure/work-text.js'

describe('text of a ledger as the page draws it', () => {
  it('has no character that is not seen, and none that turns the text around', () => {
    const unseen = /[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?![\n\t])\p{Cc}/u
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(shownText(text)).not.toMatch(unseen)
        expect(shownLine(text)).not.toMatch(/[\n\t]/)
      })
    )
  })

  it('shows hidden characters by their number, and leaves others alone', () => {
    expect(shownText('pay\u202eexe.\u0000')).toBe('pay\\u{202e}exe.\\u{0}')
    expect(shownText('Zürich, 東京\nline')).toBe('Zürich, 東京\nline')
    expect(shownText('a\ud800b')).toBe('a\\u{d800}b')
    expect(shownValue({ key: 'v'.repeat(300) }, 20)).toHaveLength(21)
    expect([0, 1, 2].map((count) => countText(count, 'receipt'))).toEqual([
      '0 receipts',
      '1 receipt',
      '2 receipts'
    ])
  })
})

describe('what is to be done, in words', () => {
  it('says each limit of a queue, and that nothing is done where nothing holds the ledger', () => {
    const rate = { limit: 30, perMs: 60_000 }
    expect(limitsText({ concurrency: 2, partitionConcurrency: 1, rate })).toBe(
      '2, 1 of a partition, at most 30 each minute'
    )
    const none = { concurrency: null, partitionConcurrency: null, rate: null }
    expect(limitsText(none)).toBe('nothing: no process holds the ledger')
  })

  it('says when, and rounds nothing', () => {
    const every = (everyMs: number) => whenText({ cron: null, everyMs, timeZone: 'UTC' })
    expect([1_500, 60_000, 5_400_000, 172_800_000].map(every)).toEqual([
      'each 1500 ms',
      'each minute',
      'each 90 minutes',
      'each 2 days'
    ])
    const cron = { cron: '30 2 * * *', everyMs: null, timeZone: 'Europe/Berlin' }
    expect(whenText(cron)).toBe('30 2 * * *, Europe/Berlin')
  })
})

describe('addresses of the page', () => {
  const ids = fc.string({ minLength: 1, unit: 'grapheme' }).filter((id) => id.isWellFormed())
  const queries = fc.dictionary(fc.constantFrom('at', 'step', 'text'), ids)

  it('lead back to what they were made of', () => {
    fc.assert(
      fc.property(fc.constantFrom(...screenNames), ids, queries, (screen, id, query) => {
        const text = addressText({ screen, id, query })
        const url = new URL(text, 'http://localhost')
        const read = addressIn(url.pathname, url.search)
        expect(read).toEqual({ screen, id, query: { ...query } })
      })
    )
  })

  it('lead to the runs where they name nothing that is known', () => {
    expect(addressIn('/nothing/%', '').screen).toBe('runs')
    expect(addressIn('/', '')).toEqual({ screen: 'runs', id: undefined, query: {} })
  })
})

describe('times as text', () => {
  it('are short, and in UTC', () => {
    expect(dayText(Date.UTC(2026, 10, 22, 15, 2, 41))).toBe('2026-11-22 15:02:41')
    expect(dayText(Number.POSITIVE_INFINITY)).toBe('no time')
    const lengths = [0, 44, 2_380, 42_000, 133_000, 7_200_000, 864_000_000]
    expect(lengths.map(tookText)).toEqual([
      '<1 ms',
      '44 ms',
      '2.38 s',
      '42.0 s',
      '2 min 13 s',
      '2 h',
      '10 days'
    ])
    expect(ageText(0)).toBe('1 s')
    const noon = Date.UTC(2026, 10, 22, 12)
    expect(untilText(noon + 3_600_000, noon)).toBe('13:00:00')
    expect(untilText(noon + 12 * 3_600_000, noon)).toBe('11-23 00:00')
  })
})

describe('questions of waits', () => {
  const wait = (reason: string, request: never) => ({ reason, request, actions: [] })

  it('are made of any request, and every member of it is listed', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue({ maxDepth: 3 }), (reason, request) => {
        const asked = wait(reason, request as never)
        expect(typeof questionOf(asked)).toBe('string')
        expect(membersAsked(asked)).toBeInstanceOf(Array)
      })
    )
  })

  it('are in words where the request has them', () => {
    const unknown = wait('decision', { unknown_outcome: 'carrier.book' } as never)
    expect(questionOf(unknown)).toBe('Did carrier.book happen?')
    const confirmation = wait('confirmation', { message: 'Pay it?', payload: { to: 1 } } as never)
    expect(questionOf(confirmation)).toBe('Pay it?')
    expect(membersAsked(confirmation)).toEqual([['to', 1]])
  })
})

describe('widgets of a result', () => {
  it('are drawn as data where they are not what their kind takes, whatever they are', () => {
    const plans = fc.record({ widgets: fc.array(fc.jsonValue({ maxDepth: 4 })) })
    fc.assert(
      fc.property(plans, (plan) => {
        for (const { widget } of widgetsOf(plan as never)) expect(widget.kind).toBeTypeOf('string')
      })
    )
    const kinds = ['stat', 'table', 'list', 'text', 'progress', 'chart', 'code', 'toString', 'map']
    const widgets = kinds.map((type) => ({ type, data: 7 }))
    const read = widgetsOf({ widgets }).map(({ widget }) => widget.kind)
    expect(read).toEqual(kinds.map(() => 'json'))
  })
})
