import { appendFileSync } from 'node:fs'
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

// One life: runs or resumes a run, and writes each span that leaves as a line; `dies` says where.
const { library, telemetry, location, file, dies } = JSON.parse(process.argv[2])
const { createRuntime, defineBlock } = await import(library)
const { openTelemetry } = await import(telemetry)

const die = () => process.kill(process.pid, 'SIGKILL')
const exporter = {
  export: (spans, done) => {
    if (dies === 'export' && spans.some(({ name }) => name.startsWith('block'))) die()
    for (const span of spans) {
      const { name, parentSpanContext, startTime } = span
      const { spanId, traceId } = span.spanContext()
      const line = { name, id: spanId, traceId, parent: parentSpanContext?.spanId, startTime }
      appendFileSync(file, `${JSON.stringify(line)}\n`)
    }
    done({ code: 0 })
  },
  shutdown: async () => undefined
}
const tracerProvider = new BasicTracerProvider({
  spanProcessors: [new SimpleSpanProcessor(exporter)]
})
const first = defineBlock({ name: 'first', version: '1.0.0', sideEffects: 'none', run: () => 1 })
const pay = defineBlock({
  name: 'pay',
  version: '1.0.0',
  sideEffects: 'idempotent',
  run: (ctx) =>
    ctx.effect('bank.pay', {
      request: {},
      perform: () => {
        if (dies === 'effect') die()
        return 'paid'
      }
    })
})
const inner = {
  schema: 'tally-composite/1',
  name: 'inner',
  version: '1.0.0',
  entry_point: 'pays',
  nodes: { pays: { block: 'pay' } }
}
const document = {
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'first',
  nodes: { first: { block: 'first' }, inside: { use: 'inner' } },
  transitions: { first: 'inside' }
}
const tally = await createRuntime({
  location,
  create: 'if-absent',
  insecurePlaintextKey: true,
  serve: false,
  blocks: [first, pay],
  composites: [inner],
  telemetry: openTelemetry({ tracerProvider })
})
await tally.begin(document, { id: 'one' }).result
const report = await tally.verify()
if (!report.ok) throw new Error('the ledger does not verify')
await tally.close()
