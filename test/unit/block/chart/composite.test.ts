import { describe, expect, it } from 'vitest'
import type { AnyActorRef } from 'xstate'
import { connectPump } from '../../../../src/block/chart/pump-port.js'
import type { CompiledComposite } from '../../../../src/block/document/compiled.js'
import type { Response } from '../../../../src/code/request.js'
import type { Json } from '../../../../src/core/index.js'
import { compiledFrom, none, testRegistry } from '../../../support/composites.js'
import {
  type Answer,
  FakePump,
  type FakePumpOptions,
  failed,
  succeeded
} from '../../../support/fake-pump.js'
import { foldRun } from '../../../support/folded-run.js'
import { interpretedParent } from '../../../support/interpreted-fold.js'

function pumpOf(
  compiled: CompiledComposite,
  attempt: FakePumpOptions['attempt'] = () => ({ response: succeeded(1) }),
  options: Partial<FakePumpOptions> = {}
): FakePump {
  return new FakePump(compiled.logic, {
    attempt,
    ...options,
    block: compiled.name,
    sideEffects: compiled.sideEffects
  })
}

function runOf(compiled: CompiledComposite, attempt?: FakePumpOptions['attempt']): FakePump {
  const pump = pumpOf(compiled, attempt)
  pump.execute({ n: 1 })
  pump.drain()
  expect(pump.errors).toEqual([])
  return pump
}

function attemptsOf(pump: FakePump) {
  return pump.asks.flatMap((ask) => (ask.kind === 'attempt' ? [ask] : []))
}

function childOf(actor: AnyActorRef, id: string): AnyActorRef {
  return actor.getSnapshot().children[id]
}

const selfLoop = (maxSteps: number) =>
  compiledFrom({ max_steps: maxSteps, nodes: { a: none('a') }, transitions: { a: 'a' } })

describe('composite', () => {
  it('B6: max_steps N allows exactly N child executions, on a self-loop too', () => {
    for (const maxSteps of [0, 1, 2, 7]) {
      const pump = runOf(selfLoop(maxSteps))
      expect(attemptsOf(pump)).toHaveLength(maxSteps)
      expect(pump.response).toMatchObject({
        success: false,
        reason: 'max_steps_exceeded',
        details: { max_steps: maxSteps, node: 'a' }
      })
    }
  })

  it('B6: retries are not counted as steps', () => {
    const compiled = compiledFrom({
      max_steps: 1,
      nodes: { a: { ...none('a'), recovery: [{ retry: { max_attempts: 3 } }] } }
    })
    const pump = runOf(compiled, ({ attempt }) => ({
      response: attempt < 3 ? failed('boom') : succeeded('done')
    }))
    expect(attemptsOf(pump).map(({ attempt, step }) => [attempt, step])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1]
    ])
    expect(pump.response?.data).toBe('done')
  })

  it('B6: no_transition beats max_steps_exceeded', () => {
    const compiled = compiledFrom({
      max_steps: 1,
      nodes: { a: none('a') },
      transitions: { a: [{ condition: 'large', target: 'a' }] }
    })
    expect(runOf(compiled).response).toMatchObject({
      reason: 'no_transition',
      details: { node: 'a' }
    })
  })

  it('B4: a condition that throws, or gives no boolean, is condition_execution_error', () => {
    const ends = (condition: Json) =>
      runOf(
        compiledFrom({
          nodes: { a: none('a') },
          transitions: { a: [{ condition, target: 'a' }] }
        })
      ).response
    expect(ends('throws')).toMatchObject({
      reason: 'condition_execution_error',
      details: { node: 'a', condition: 'throws', code: 'condition_threw' }
    })
    expect(ends({ cel: 'response.data' })).toMatchObject({
      reason: 'condition_execution_error',
      details: { code: 'not_boolean' }
    })
  })

  it('B4: CEL conditions see response and request; first match wins', () => {
    const compiled = compiledFrom({
      nodes: { a: none('a'), b: none('b'), c: none('c') },
      transitions: {
        a: [
          { condition: { cel: 'request.payload.n == 2' }, target: 'c' },
          { condition: { cel: 'response.data == 1' }, target: 'b' },
          { condition: 'default', target: 'c' }
        ]
      }
    })
    expect(attemptsOf(runOf(compiled)).map(({ path }) => path)).toEqual(['root/a', 'root/b'])
  })

  it('B7: input is made from request and earlier responses, output from all', () => {
    const compiled = compiledFrom({
      nodes: {
        a: none('a'),
        b: { ...none('b'), input: { object: { from: { ref: 'nodes.a.response.data' } } } }
      },
      transitions: { a: 'b' },
      output: { object: { b: { ref: 'nodes.b.response.data' }, n: { ref: 'request.payload.n' } } }
    })
    const pump = runOf(compiled, ({ path }) => ({ response: succeeded(path) }))
    expect(attemptsOf(pump).map(({ request }) => request.payload)).toEqual([
      { n: 1 },
      { from: 'root/a' }
    ])
    expect(pump.response).toMatchObject({ success: true, data: { b: 'root/b', n: 1 } })
  })

  it('B7: an input or output that cannot be evaluated fails the composite by name', () => {
    const input = { ref: 'request.payload.missing' }
    expect(runOf(compiledFrom({ nodes: { a: { ...none('a'), input } } })).response).toMatchObject({
      reason: 'input_execution_error',
      details: { node: 'a', code: 'missing_refs' }
    })
    expect(runOf(compiledFrom({ nodes: { a: none('a') }, output: input })).response).toMatchObject({
      reason: 'output_execution_error'
    })
  })

  it('B1: a child gets its trace, its path and only the context it declares', () => {
    const compiled = compiledFrom({ nodes: { a: { ...none('a'), context: ['locale', 'other'] } } })
    const [ask] = attemptsOf(runOf(compiled))
    expect(ask?.request.context).toEqual({ locale: 'en' })
    expect(ask?.request.metadata).toEqual({
      id: 'run-1:root/a:1',
      traceId: 'run-1',
      spanId: 'root/a:1',
      parentSpanId: 'root:1',
      runId: 'run-1',
      blockName: 'none.a',
      nodeName: 'a',
      attempt: 1,
      sideEffectClass: 'none'
    })
  })

  it('B2: executing a BUSY or WAITING composite is block_busy and leaves the run alone', () => {
    const waitsOnce: FakePumpOptions['attempt'] = () => ({
      response: succeeded(1),
      waitsFirst: true
    })
    const pump = pumpOf(compiledFrom({ nodes: { a: none('a') } }), waitsOnce)
    pump.execute({ n: 1 })
    pump.execute({ n: 2 })
    expect(pump.response).toMatchObject({ success: false, reason: 'block_busy' })
    pump.step()
    pump.execute({ n: 3 })
    expect(pump.response).toMatchObject({ reason: 'block_busy' })
    pump.drain()
    expect(pump.response).toEqual(succeeded(1))
    expect(attemptsOf(pump)).toHaveLength(1)
  })

  it('B2: a wait of a child is a wait of its parents, and is not executed twice', () => {
    const compiled = compiledFrom({
      nodes: { inner: { composite: { entry_point: 'x', nodes: { x: none('x') } } } }
    })
    const pump = runOf(compiled, () => ({ response: succeeded(1), waitsFirst: true }))
    expect(pump.asks.map(({ kind }) => kind)).toEqual(['attempt', 'waiting', 'resumed', 'settled'])
  })

  it('cancel reaches the running leaf and settles every level', () => {
    const compiled = compiledFrom({
      nodes: { inner: { composite: { entry_point: 'x', nodes: { x: none('x') } } } }
    })
    const pump = pumpOf(compiled)
    pump.execute(null)
    pump.cancel()
    expect(pump.response).toMatchObject({ success: false, reason: 'cancelled' })
    expect(pump.asks.map(({ kind, path }) => [kind, path])).toEqual([
      ['attempt', 'root/inner/x'],
      ['cancel', 'root/inner/x'],
      ['settled', 'root']
    ])
    expect(pump.step()).toBe(false)
    pump.execute(null)
    pump.drain()
    expect(pump.response).toEqual(succeeded(1))
  })

  it('cancel ends a retry delay and a decision of a nested composite', () => {
    for (const node of [
      { recovery: [{ retry: { max_attempts: 2, interval_ms: 9 } }] },
      { on_error: 'ask' }
    ]) {
      const composite = { entry_point: 'x', nodes: { x: none('x') } }
      const compiled = compiledFrom({ nodes: { inner: { composite, ...node } } })
      const pump = pumpOf(compiled, () => ({ response: failed('boom') }))
      pump.execute(null)
      pump.step()
      expect(pump.root.getSnapshot().value).toEqual({ WAITING: 'w:inner' })
      pump.cancel()
      expect(pump.response).toMatchObject({ reason: 'cancelled' })
      expect(pump.asks.slice(-3).map(({ kind }) => kind)).toEqual(['cancel', 'resumed', 'settled'])
      expect(pump.root.getSnapshot().value).toBe('READY')
    }
  })

  it('a defect in a child stops the run with an error instead of leaving it hanging', () => {
    const defect = new Error('defect')
    const pump = pumpOf(compiledFrom({ nodes: { a: none('a') } }))
    connectPump(pump.root.system, {
      ask: () => {
        throw defect
      }
    })
    pump.execute(null)
    expect(pump.errors).toEqual([defect])
  })

  it('a checkpoint does not grow with the nodes visited', () => {
    const names = Array.from({ length: 50 }, (_, index) => `n${index}`)
    const compiled = compiledFrom({
      nodes: Object.fromEntries(names.map((name) => [name, none(name)])),
      transitions: Object.fromEntries(names.slice(1).map((name, index) => [`n${index}`, name]))
    })
    const pump = pumpOf(compiled)
    pump.execute(null)
    const sizes = names.slice(1).map(() => {
      pump.step()
      return JSON.stringify(pump.root.getPersistedSnapshot()).length
    })
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(100)
  })

  it('D8: stopping the root stops every level', () => {
    const composite = { entry_point: 'x', nodes: { x: none('x') } }
    const pump = pumpOf(compiledFrom({ nodes: { inner: { composite } } }))
    pump.execute(null)
    const ended: string[] = []
    const inner = childOf(pump.root, 'inner')
    for (const actor of [inner, childOf(inner, 'x')]) {
      actor.subscribe({ complete: () => ended.push(actor.id) })
    }
    pump.root.stop()
    expect(ended).toEqual(['x', 'inner'])
  })

  it('D8: children never outnumber nodes, and every visit has its own step', () => {
    const actors = new Set<unknown>()
    const pump = pumpOf(selfLoop(20), ({ path }) => {
      actors.add(pump.root.getSnapshot().children['a'])
      return { response: succeeded(path) }
    })
    pump.execute({ n: 1 })
    pump.drain()
    expect(Object.keys(pump.root.getSnapshot().children)).toEqual(['a'])
    expect(actors.size).toBe(1)
    expect(attemptsOf(pump).map(({ step }) => step)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1)
    )
  })

  it('L6: steps count on through retries of a composite, and start anew with another run', () => {
    const compiled = compiledFrom({
      nodes: {
        inner: {
          composite: { entry_point: 'x', nodes: { x: none('x') } },
          recovery: [{ retry: { max_attempts: 2 } }]
        }
      }
    })
    let count = 0
    const pump = pumpOf(compiled, () => {
      count += 1
      return { response: count === 1 ? failed('boom') : succeeded(count) }
    })
    pump.execute(null)
    pump.drain()
    pump.execute(null, {}, 'run-2')
    pump.drain()
    expect(pump.response?.success).toBe(true)
    expect(attemptsOf(pump).map(({ step, request }) => [request.metadata.runId, step])).toEqual([
      ['run-1', 1],
      ['run-1', 2],
      ['run-2', 1]
    ])
  })

  it('B8: a composite recovers as a leaf does, but never into an unsafe class', () => {
    const compiled = (block: string) =>
      compiledFrom({
        nodes: {
          inner: {
            composite: { entry_point: 'x', nodes: { x: { block } } },
            recovery: [{ retry: { max_attempts: 3 } }]
          }
        }
      })
    const boom = () => ({ response: failed('boom') })
    expect(attemptsOf(runOf(compiled('none.x'), boom))).toHaveLength(3)
    const unsafe = runOf(compiled('pay.x'), boom)
    expect(attemptsOf(unsafe)).toHaveLength(1)
    expect(unsafe.response).toMatchObject({
      reason: 'unsafe_to_retry',
      details: { side_effect_class: 'non_idempotent', failure_reason: 'boom' }
    })
  })

  it('B8: repair and decision patch give a composite another payload', () => {
    const compiled = compiledFrom({
      nodes: {
        inner: {
          composite: { entry_point: 'x', nodes: { x: none('x') } },
          recovery: [{ repair: 'fix' }],
          on_error: 'ask'
        }
      }
    })
    const pump = pumpOf(
      compiled,
      ({ request }) => ({
        response:
          JSON.stringify(request.payload) === '{"fixed":true,"patched":1}'
            ? succeeded('ok')
            : failed('boom')
      }),
      { decision: () => ({ action: 'patch', patch: { patched: 1 } }) }
    )
    pump.execute({ n: 1 })
    pump.drain()
    expect(pump.response?.data).toBe('ok')
    expect(attemptsOf(pump).map(({ request }) => request.payload)).toEqual([
      { n: 1 },
      { fixed: true },
      { fixed: true, patched: 1 }
    ])
  })

  it('confirm goes to the pump only when its condition holds', () => {
    const confirmOf = (when: string) =>
      attemptsOf(
        runOf(
          compiledFrom({
            nodes: { a: { ...none('a'), confirm: { message: 'Pay?', when: { cel: when } } } }
          })
        )
      )[0]?.options.confirm
    expect(confirmOf('request.payload.n == 1')).toEqual({ message: 'Pay?' })
    expect(confirmOf('request.payload.n == 2')).toBeUndefined()
    expect(confirmOf('request.payload.gone')).toEqual({ message: 'Pay?' })
  })

  it('W5: a deadline reaches every level, the earliest of all', () => {
    const compiled = compiledFrom({
      nodes: {
        inner: {
          timeout_ms: 50,
          composite: {
            entry_point: 'x',
            nodes: { x: { ...none('x'), timeout_ms: 90 } }
          }
        }
      }
    })
    const [ask] = attemptsOf(runOf(compiled))
    expect(ask?.options).toMatchObject({ timeoutMs: 90, deadline: 1_050 })
  })

  it('payloads that look like actor references survive a restart', () => {
    const strange = { xstate$$type: 1, id: 'a', inner: { sessionId: 1, send: 2, ref: 3 } }
    const pump = pumpOf(
      compiledFrom({ nodes: { a: none('a'), b: none('b') }, transitions: { a: 'b' } })
    )
    pump.execute(strange)
    pump.crash()
    pump.drain()
    expect(attemptsOf(pump).map(({ request }) => request.payload)).toEqual([strange, strange])
  })
})

describe('atomic composite', () => {
  const fields = {
    atomic: true,
    nodes: {
      a: none('a'),
      inner: { composite: { entry_point: 'x', nodes: { x: none('x') } } }
    },
    transitions: { a: 'inner' }
  }
  const scopes = (pump: FakePump) =>
    pump.asks.flatMap((ask) => (ask.kind.startsWith('scope.') ? [`${ask.kind} ${ask.path}`] : []))

  it('C4: opens and commits a scope, and inner composites theirs; one is outermost', () => {
    const pump = runOf(compiledFrom(fields))
    expect(scopes(pump)).toEqual([
      'scope.open root',
      'scope.open root/inner',
      'scope.commit root/inner',
      'scope.commit root'
    ])
    const outermost = pump.asks.flatMap((ask) => (ask.kind === 'scope.open' ? [ask.outermost] : []))
    expect(outermost).toEqual([true, false])
    expect(pump.response?.success).toBe(true)
  })

  it('C4: a failure aborts from the inside out', () => {
    const fails = ({ path }: { readonly path: string }): Answer => ({
      response: path.endsWith('x') ? failed('boom') : succeeded(1)
    })
    const pump = runOf(compiledFrom(fields), fails)
    expect(scopes(pump).slice(2)).toEqual(['scope.abort root/inner', 'scope.abort root'])
    expect(pump.response?.reason).toBe('boom')
  })

  it('L10: a conflict at commit runs the composite anew', () => {
    const pump = pumpOf(
      compiledFrom({ atomic: true, nodes: { a: none('a') } }),
      () => ({ response: succeeded(1) }),
      { commit: (_, count) => (count === 1 ? 'conflict' : 'commit') }
    )
    pump.execute(null)
    pump.drain()
    expect(scopes(pump)).toEqual([
      'scope.open root',
      'scope.commit root',
      'scope.open root',
      'scope.commit root'
    ])
    expect(attemptsOf(pump).map(({ step }) => step)).toEqual([1, 2])
    expect(pump.response).toEqual(succeeded(1))
  })

  it('C4: refuses a block that acts outside, at any depth', () => {
    const inner = { composite: { entry_point: 'x', nodes: { x: { block: 'pay.x' } } } }
    expect(() => compiledFrom({ atomic: true, nodes: { inner } })).toThrow(
      /pay\.x acts outside.*cannot undo/
    )
    expect(compiledFrom({ nodes: { inner } }).name).toBeTypeOf('string')
  })
})

describe('three levels', () => {
  const compiled = compiledFrom({
    atomic: true,
    nodes: {
      first: none('first'),
      middle: {
        composite: {
          entry_point: 'prepare',
          nodes: {
            prepare: {
              ...none('prepare'),
              recovery: [{ retry: { max_attempts: 3, interval_ms: 5 } }]
            },
            deep: {
              composite: {
                max_steps: 4,
                entry_point: 'x',
                nodes: { x: none('x'), y: { ...none('y'), on_error: 'ask' } },
                transitions: {
                  x: [
                    { condition: { cel: 'response.data < 5' }, target: 'x' },
                    { condition: 'default', target: 'y' }
                  ]
                },
                output: { ref: 'nodes.x.response.data' }
              },
              recovery: [{ retry: { max_attempts: 2, interval_ms: 7 } }]
            }
          },
          transitions: { prepare: 'deep' }
        },
        on_error: 'ask'
      },
      last: { ...none('last'), input: { ref: 'nodes.middle.response.data' } }
    },
    transitions: { first: 'middle', middle: 'last' }
  })

  // Answers go by path, step and attempt, as a journal's do, so that they do not depend on crashes.
  const attempt: FakePumpOptions['attempt'] = ({ path, step, attempt: tries }) => {
    const name = path.split('/').at(-1)
    const response = ((): Response => {
      if (name === 'prepare') return tries < 3 ? failed('flaky') : succeeded('ready')
      if (name === 'x') return succeeded(step)
      if (name === 'y') return tries < 2 ? failed('odd') : succeeded('y')
      return succeeded(path)
    })()
    return { response, waitsFirst: (step + tries) % 2 === 0 }
  }
  const decision: FakePumpOptions['decision'] = () => ({ action: 'retry' })
  const play = (crashEvery?: number) => {
    const pump = pumpOf(compiled, attempt, { decision })
    pump.execute({ n: 1 })
    pump.drain(crashEvery === undefined ? {} : { crashEvery })
    expect(pump.errors).toEqual([])
    return pump
  }

  it('D6: persist, JSON, restore at every boundary: same outcome, same asks', () => {
    const plain = play()
    expect(plain.response).toMatchObject({ success: true, data: 'root/last' })
    expect(new Set(plain.asks.map(({ kind }) => kind))).toEqual(
      new Set([
        'attempt',
        'timer',
        'decision',
        'waiting',
        'resumed',
        'scope.open',
        'scope.commit',
        'scope.abort',
        'settled'
      ])
    )
    for (const crashEvery of [1, 2, 3, 5]) {
      const crashed = play(crashEvery)
      expect(crashed.asks).toEqual(plain.asks)
      expect(crashed.deliveries).toEqual(plain.deliveries)
      expect(crashed.response).toEqual(plain.response)
    }
  })

  it('D1: the pure fold equals the live run', () => {
    const live = play(1)
    for (const options of [{}, { makeParent: interpretedParent }]) {
      const fold = foldRun(compiled, live.deliveries, { library: testRegistry, ...options })
      expect(fold).toEqual(live.asks)
    }
  })

  it('D6: a restored snapshot persists to the same text', () => {
    const pump = pumpOf(compiled, attempt, { decision })
    pump.execute({ n: 1 })
    for (let count = 0; count < 12; count += 1) {
      pump.step()
      const text = JSON.stringify(pump.root.getPersistedSnapshot())
      pump.crash()
      expect(JSON.stringify(pump.root.getPersistedSnapshot())).toBe(text)
    }
  })
})
