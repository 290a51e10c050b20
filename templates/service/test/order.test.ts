import { createRuntime } from 'tallystick'
import { FakeClock } from 'tallystick/testing'
import { expect, it } from 'vitest'
import { orderWorkflow } from '../src/order.js'
import { serviceOf } from '../src/service.js'

it('charges an order once, packs it for two seconds, and ships it', async () => {
  const charges: number[] = []
  const workflow = orderWorkflow({
    charge: async (cents) => {
      charges.push(cents)
      return 'payment-1'
    }
  })
  const clock = new FakeClock()
  await using tally = await createRuntime({ location: 'memory:', clock, workflows: [workflow] })
  const app = serviceOf(tally, workflow)
  const order = (cents: number) =>
    app.inject({ method: 'PUT', url: '/orders/o-17', payload: { item: 'lamp', cents } })
  const shown = async () => (await app.inject('/orders/o-17')).json()

  expect((await order(1200)).statusCode).toBe(202)
  await clock.settle()
  expect(await shown()).toMatchObject({ status: 'waiting', progress: 'packing' })
  // A client that did not get the answer asks again.
  expect((await order(1200)).json()).toEqual({ id: 'o-17', isNew: false })
  expect((await order(9900)).statusCode).toBe(409)

  await clock.advance(2_000)
  expect(await shown()).toMatchObject({ status: 'done', progress: 'shipped' })
  expect(charges).toEqual([1200])
  expect((await tally.verify()).ok).toBe(true)
})
