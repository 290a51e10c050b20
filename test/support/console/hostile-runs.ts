import { START } from './fake-journals.js'
import { type FakeRun, madeRun } from './fake-runs.js'

/** Texts that would run, load, or mislead, if anything but text were made of them. */
export const hostileTexts: readonly string[] = [
  '<img src=x onerror="globalThis.hostile=1">',
  '"><script>globalThis.hostile=1</script>',
  "'-globalThis.hostile=1-'",
  'javascript:globalThis.hostile=1',
  '{{constructor.constructor("globalThis.hostile=1")()}}',
  '<svg/onload=globalThis.hostile=1>',
  'approve\u202e\u2066 yned \u2069',
  'a\u0000b\u001b[31m\u200b\ufeff',
  '../../etc/passwd',
  '__proto__',
  '%2e%2e%2f%00'
]

/** Runs that say each of these wherever a run can say something. */
export function hostileRuns(): readonly FakeRun[] {
  return hostileTexts.map((text, place) =>
    madeRun({
      id: `${text} ${place}`,
      name: text,
      startedAt: START + 3_600_000 + place,
      input: { [text]: text },
      graph: {
        kind: 'composite',
        name: text,
        nodes: [
          { path: `root/${text}`, id: text, does: text, sideEffects: null, confirm: true },
          { path: 'root/b', id: 'b', does: text, sideEffects: null, confirm: false }
        ],
        edges: [{ from: text, to: 'b', order: 1, when: text }]
      },
      write: (journal) => {
        const types = ['stat', 'table', 'list', 'text', 'key-value', 'chart', 'code', text]
        const widgets = types.map((type) => ({ type, title: text, data: dataOf(type, text) }))
        journal.step(text, { [text]: text }, { effect: text })
        const request = { message: text, payload: { [text]: text } }
        const wait = journal.waits('b', { reason: text, request, actions: ['approve', text] })
        const data = { ui: { layout: text, widgets } }
        const response = { success: true, data, metadata: {} }
        return { status: 'waiting', waits: [wait as never], response }
      }
    })
  )
}

function dataOf(type: string, text: string) {
  switch (type) {
    case 'stat':
      return { value: text, unit: text }
    case 'table':
      return { columns: [text], rows: [[text]] }
    case 'list':
      return [text]
    case 'key-value':
      return { [text]: text }
    case 'chart':
      return { points: [{ label: text, value: 1 }] }
    default:
      return text
  }
}
