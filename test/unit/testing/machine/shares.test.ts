import { describe, expect, it } from 'vitest'
import type * as Testing from '../../../../src/testing/index.js'
import { builtModule } from '../../../support/built.js'
import { isLong } from '../../../support/effort.js'

const { verifyMachine }: typeof Testing = await import(builtModule('testing/index.js'))
const module = new URL('./shares.mjs', import.meta.url).href
const { patient, blind, options, collecting } = await import(module)

const rejected = (verifying: Promise<unknown>): Promise<unknown> =>
  verifying.then(
    () => undefined,
    (error: unknown) => error
  )

describe('cases that several processes share', () => {
  it('are all played, and what each has taken is counted', async () => {
    const from = { module, target: 'patient', options: 'options' }
    const report = await verifyMachine(patient, { ...options, from, cases: 11, processes: 2 })
    expect(report.cases).toBe(11)
    expect(report.lives).toBeGreaterThan(11)
    expect(report.coverage.transitions).toEqual({ taken: 1, of: 1 })
  })

  it('are played by processes that collect for one life after another', async () => {
    const from = { module, target: 'patient', options: 'collecting' }
    const asked = { ...collecting, from, cases: 4 }
    expect((await verifyMachine(patient, { ...asked, processes: 2 })).cases).toBe(4)
    expect(await rejected(verifyMachine(patient, asked))).toMatchObject({
      code: 'testing.answer_broken'
    })
  })

  if (isLong) {
    it('give the counterexample that one of them has found', async () => {
      const from = { module, target: 'blind', options: 'options' }
      const error = await rejected(
        verifyMachine(blind, { ...options, from, cases: 60, processes: 2 })
      )
      expect(error).toMatchObject({
        code: 'testing.promise_broken',
        context: { promise: 'once' }
      })
      expect(String(error)).toContain('import { blind, options } from')
    })
  }

  it('need a module that says where the target is', async () => {
    const error = await rejected(verifyMachine(patient, { ...options, cases: 4, processes: 2 }))
    expect(error).toMatchObject({ code: 'testing.module_missing' })
  })

  it('say so when the module of the target cannot be loaded', async () => {
    const from = { module: `${module}.none`, target: 'patient', options: 'options' }
    const asked = { ...options, from, cases: 4, processes: 2 }
    expect(await rejected(verifyMachine(patient, asked))).toMatchObject({
      code: 'testing.share_ended'
    })
  })
})
