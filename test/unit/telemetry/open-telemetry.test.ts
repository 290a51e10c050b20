import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { OTLPTraceExporter } from 'opentelemetry-exporter-otlp'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { defineBlock } from '../../../src/code/index.js'
import { createRuntime } from '../../../src/runtime/index.js'
import { openTelemetry } from '../../../src/telemetry/index.js'
import { SpansInMemory } from '../../support/spans.js'

const block = defineBlock({
  name: 'told',
  version: '1.0.0',
  sideEffects: 'none',
  run: () => 'a response'
})

const document = {
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'tells',
  nodes: { tells: { block: 'told' } }
}

const names = ['block told', 'run order']

async function ran(telemetry: ReturnType<typeof openTelemetry>): Promise<void> {
  const tally = await createRuntime({ location: 'memory:', blocks: [block], telemetry })
  const { status } = await tally.begin(document, { id: 'one' }).result
  expect(status).toBe('done')
  await tally.close()
}

const ofRun = (name: string) => /^(block|run order)/.test(name)

afterEach(() => {
  vi.doUnmock('@opentelemetry/api')
  vi.restoreAllMocks()
})

describe('openTelemetry', () => {
  it('refuses to open without its library, and says how to get it', async () => {
    vi.doMock('@opentelemetry/api', () => {
      throw new Error('Cannot find package')
    })
    await expect(
      createRuntime({ location: 'memory:', telemetry: openTelemetry() })
    ).rejects.toMatchObject({
      code: 'telemetry.missing_library',
      fix: 'Install it beside tallystick: npm install @opentelemetry/api.'
    })
  })

  it('does nothing where no provider is registered', async () => {
    await ran(openTelemetry())
  })

  it.each(['@opentelemetry/api', 'opentelemetry-api-1-10'])(
    'writes spans through %s',
    async (api) => {
      const version = await vi.importActual<object>(api)
      vi.doMock('@opentelemetry/api', () => version)
      const spans = new SpansInMemory()
      await ran(spans.telemetry)
      const found = spans.ofRuns().filter(({ name }) => ofRun(name))
      expect(found.map(({ name }) => name)).toEqual(names)
      expect(found[0]).toMatchObject({ parent: found[1]?.id, traceId: found[1]?.traceId })
    }
  )

  it('sends what a receiver of OTLP over HTTP takes, with ids of the run and without payloads', async () => {
    const bodies: string[] = []
    const server = createServer((request, response) => {
      request.setEncoding('utf8')
      let body = ''
      request.on('data', (chunk: string) => {
        body += chunk
      })
      request.on('end', () => {
        bodies.push(body)
        response.setHeader('content-type', 'application/json').end('{}')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${port}/v1/traces` })
    const tracerProvider = new BasicTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(exporter)]
    })
    const spans = new SpansInMemory()
    await ran(spans.telemetry)
    await ran(openTelemetry({ tracerProvider }))
    await tracerProvider.forceFlush()
    await tracerProvider.shutdown()
    await new Promise((resolve) => server.close(resolve))
    const received = bodies.flatMap((body) => spansIn(JSON.parse(body) as OtlpBody))
    const expected = spans.ofRuns().filter(({ name }) => ofRun(name))
    expect(
      received
        .filter(({ name }) => ofRun(name))
        .map(({ spanId }) => spanId)
        .sort()
    ).toEqual(expected.map(({ id }) => id).sort())
    expect(bodies.join('')).not.toContain('a response')
  })
})

interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly spans: readonly { readonly name: string; readonly spanId: string }[]
    }[]
  }[]
}

function spansIn({ resourceSpans }: OtlpBody) {
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
}

/** What throws at every use of one of its members. */
function throwing(member: string, inner: object = {}): object {
  return new Proxy(inner, {
    get: (target, name) => {
      if (name === member) {
        return () => {
          throw new Error(`no ${member}`)
        }
      }
      return Reflect.get(target, name)
    }
  })
}

describe('T4: telemetry that throws', () => {
  const spans = new SpansInMemory()
  const tracer = spans.tracers.getTracer('test')
  const span = tracer.startSpan('one')
  const tracers: readonly (readonly [string, object])[] = [
    ['startSpan', throwing('startSpan')],
    ...['spanContext', 'setAttributes', 'isRecording', 'end'].map(
      (member) => [member, { startSpan: () => throwing(member, span) }] as const
    )
  ]

  it.each(tracers)('at %s disturbs no run, and is warned of once', async (_member, broken) => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    await ran(openTelemetry({ tracerProvider: { getTracer: () => broken as never } }))
    expect(warned).toHaveBeenCalledTimes(1)
  })

  it('at a metric disturbs no run', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const fail = () => {
      throw new Error('full')
    }
    const meter = {
      createUpDownCounter: () => ({ add: fail }),
      createCounter: () => ({ add: fail }),
      createHistogram: () => ({ record: fail })
    }
    const telemetry = openTelemetry({
      tracerProvider: spans.tracers,
      meterProvider: { getMeter: () => meter }
    })
    await ran(telemetry)
    expect(warned).toHaveBeenCalledTimes(1)
  })
})
