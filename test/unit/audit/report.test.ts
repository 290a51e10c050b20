import { describe, expect, it } from 'vitest'
import { type VerificationReport, verificationLine } from '../../../src/audit/index.js'
import type { IdentityId } from '../../../src/core/index.js'

const sound: Omit<VerificationReport, 'line'> = {
  ok: true,
  complete: false,
  identity: 'a'.repeat(64) as IdentityId,
  commits: 40,
  receipts: 1204,
  evidence: 0,
  signatures: 1204,
  runs: 3,
  journalEntries: 5000,
  stateEntries: 7,
  head: undefined,
  quarantined: [],
  reexecuted: 1204,
  reexecutedFailures: 0,
  reexecutedByProfile: { '{"js":"node-20"}': 1204 },
  anchored: { upTo: 1200, logSize: 1204, notes: [], source: './ops.note' },
  elapsedMs: 12,
  notChecked: []
}

describe('the line of a report', () => {
  it('P5: says how far the log is anchored, and by which note', () => {
    expect(verificationLine(sound)).toBe(
      'verify: 1 204 receipts, chain ok, signatures ok, state ok, re-executed 1 204; ' +
        'anchored up to 1 200 of 1 204 (note from ./ops.note), 4 not anchored'
    )
  })

  it('leaves out what is not there', () => {
    const anchored = { upTo: 0, logSize: 3, notes: [], source: null }
    const plain = { ...sound, receipts: 1, evidence: 2, reexecuted: 0, anchored }
    expect(verificationLine(plain)).toBe(
      'verify: 1 receipt and 2 evidence records, chain ok, signatures ok, state ok; ' +
        'not anchored (no note given)'
    )
    const whole = { ...sound.anchored, upTo: 1_234_567, logSize: 1_234_567 }
    expect(verificationLine({ ...sound, anchored: whole })).toContain(
      'anchored up to 1 234 567 of 1 234 567 (note from ./ops.note)'
    )
  })

  it('P1: names the first failure with key, values and the value before, shortened', () => {
    const failure = {
      index: 1017,
      commit: 12,
      field: 'writeSet',
      key: 'balance',
      signed: '5',
      computed: '"'.padEnd(400, 'x'),
      before: '4'
    }
    const line = verificationLine({ ...sound, ok: false, failure })
    expect(line).toMatch(
      /^verify: FAILED at receipt 1 017: writeSet \(balance\): signed 5, computed "x+…, was 4; /
    )
    expect(line.length).toBeLessThan(400)
  })

  it('P1: counts what was done again, beside the whole where that is more', () => {
    const again = (more: object) => verificationLine({ ...sound, ...more }).split(/state ok|;/)[1]
    expect(again({ reexecuted: 7 })).toBe(', re-executed 7 of 1 204')
    expect(again({ reexecutedFailures: 1 })).toBe(', re-executed 1 204 and 1 failure')
    expect(again({ reexecuted: 0, reexecutedFailures: 2 })).toBe(
      ', re-executed 0 of 1 204 and 2 failures'
    )
    expect(again({ reexecuted: 0 })).toBe('')
  })

  it('P5: says whether notes were given of which none fits', () => {
    const note = { source: 'a', size: 1, ok: false }
    const anchored = { upTo: 0, logSize: 3, notes: [note], source: null }
    expect(verificationLine({ ...sound, anchored })).toContain('; not anchored (no note fits)')
    const whole = verificationLine({ ...sound, anchored: { ...sound.anchored, upTo: 1204 } })
    expect(whole.endsWith('(note from ./ops.note)')).toBe(true)
  })

  it('K10: names the first three runs that are quarantined, whatever else was found', () => {
    const line = (count: number, more: object = {}) => {
      const marks = Array.from({ length: count }, (_, at) => ({ run: `run-${at}` }))
      const found = verificationLine({ ...sound, ...more, quarantined: marks as never })
      return found.slice(found.indexOf('; quarantined') + 2)
    }
    expect(line(1)).toBe('quarantined: run-0')
    expect(line(3)).toBe('quarantined: run-0, run-1, run-2')
    expect(line(1_004)).toBe('quarantined: run-0, run-1, run-2 and 1 001 more')
    const failure = { index: 1, commit: 1, field: 'journal', signed: 'x', computed: 'y' }
    expect(line(1, { failure })).toBe('quarantined: run-0')
    expect(verificationLine({ ...sound, failure })).toBe(
      'verify: FAILED at receipt 1: journal: signed x, computed y; 1 204 receipts before it'
    )
  })

  it('P1: shows a value whole that is short enough', () => {
    const line = (length: number) => {
      const failure = { index: 1, commit: 1, field: 'a', signed: 'x'.repeat(length), computed: '' }
      return verificationLine({ ...sound, failure })
    }
    expect(line(160)).toContain(`signed ${'x'.repeat(160)}, `)
    expect(line(161)).toContain(`signed ${'x'.repeat(160)}…, `)
  })
})
