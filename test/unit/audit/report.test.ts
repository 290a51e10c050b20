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
})
