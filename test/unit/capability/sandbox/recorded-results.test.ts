import { describe, expect, it } from 'vitest'
import { answered, runs, sandboxOfFile } from '../guest.js'

const { execute } = sandboxOfFile()

const two = runs(`
  const first = await api.wallet.send({ to: 'a' })
  api.storage.set('first', first)
  const second = await api.messages.send({ text: 'paid ' + first.id })
  return { first, second, random: Math.random() > -1 }`)

describe('suspension and recorded results', () => {
  it('K9: a call suspends, and the code runs again from the start with its result', async () => {
    const first = await execute(two)
    expect(first).toMatchObject({
      kind: 'call',
      calls: [{ seq: 0, capability: 'wallet.send', requestText: '{"to":"a"}' }]
    })
    const recorded = [answered(0, { to: 'a' }, { id: 7 })]
    const second = await execute(two, { recorded })
    expect(second).toMatchObject({
      kind: 'call',
      calls: [{ seq: 1, capability: 'messages.send', requestText: '{"text":"paid 7"}' }]
    })
    const third = await execute(two, {
      recorded: [...recorded, answered(1, { text: 'paid 7' }, 'sent')]
    })
    expect(third).toMatchObject({
      kind: 'done',
      resultText: '{"first":{"id":7},"random":true,"second":"sent"}',
      used: ['messages.send', 'storage.write', 'wallet.send']
    })
    expect(third.kind === 'done' && third.calls.map(({ seq }) => seq)).toEqual([0, 1])
  })

  it('asks for calls made at once together, and releases results in delivery order', async () => {
    const race = runs(`
      const order = []
      const note = (name) => (value) => { order.push(name); return value }
      await Promise.all([
        api.contacts.read({ n: 1 }).then(note('one')),
        api.network.request({ n: 2 }).then(note('two'))
      ])
      return order`)
    const open = await execute(race)
    expect(open.kind === 'call' && open.calls.map(({ seq }) => seq)).toEqual([0, 1])
    const one = answered(0, { n: 1 }, 1)
    const other = answered(1, { n: 2 }, 2)
    expect(await execute(race, { recorded: [one, other] })).toMatchObject({
      resultText: '["one","two"]'
    })
    expect(await execute(race, { recorded: [other, one] })).toMatchObject({
      resultText: '["two","one"]'
    })
    const partly = await execute(race, { recorded: [other] })
    expect(partly.kind === 'call' && partly.calls.map(({ seq }) => seq)).toEqual([0])
  })

  it('lets the guest catch a failed effect, with its reason', async () => {
    const body = runs(`try { await api.wallet.send(1) } catch (error) {
      return [error.name, error.reason, error.details, error instanceof Error]
    }`)
    const { requestHash } = answered(0, 1, null)
    const outcome = await execute(body, {
      recorded: [{ seq: 0, requestHash, ok: false, reason: 'no_funds', details: { short: '3' } }]
    })
    expect(outcome).toMatchObject({
      resultText: '["EffectFailure","no_funds",{"short":"3"},true]'
    })
  })

  it('does not end while a call is open, also one that no code awaits', async () => {
    const body = runs(`api.messages.send('x'); return 1`)
    expect(await execute(body)).toMatchObject({ kind: 'call', calls: [{ seq: 0 }] })
    expect(await execute(body, { recorded: [answered(0, 'x', null)] })).toMatchObject({
      kind: 'done',
      resultText: '1'
    })
  })

  it('diverges when a call is missing or asks for something else', async () => {
    expect(await execute(runs('return 1'), { recorded: [answered(0, 1, 1)] })).toMatchObject({
      code: 'diverged',
      message: 'call 0 was not made again'
    })
    expect(await execute(two, { recorded: [answered(0, { to: 'b' }, { id: 7 })] })).toMatchObject({
      code: 'diverged',
      message: 'call 0 asks for something else than before'
    })
  })

  it('reports a promise that nothing will settle', async () => {
    const outcome = await execute(runs('await new Promise(() => {})'))
    expect(outcome).toMatchObject({ code: 'never_settled', isDeterministic: true })
  })
})
