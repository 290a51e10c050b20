import { describe, expect, it } from 'vitest'
import type { OpenWait } from '../../../../src/block/index.js'
import {
  checkWait,
  isJsonObject,
  type Json,
  type JsonObject,
  ManualClock
} from '../../../../src/core/index.js'
import { checkApproval } from '../../../../src/identity/index.js'
import { createRuntime, MEMORY_LOCATION, type RunHandle } from '../../../../src/runtime/index.js'
import {
  approvers,
  askApprovers,
  documentOf,
  payBlock,
  signed,
  twoOfThree
} from '../../../support/approvers.js'

const { ada, ben, cay } = approvers
const blocks = [
  askApprovers('confirmation'),
  askApprovers('permission'),
  askApprovers('external'),
  payBlock
]

const documents = {
  'a node with confirm': documentOf({ block: 'pay', confirm: { approvers: twoOfThree } }),
  'a block with ctx.wait': documentOf({ block: 'ask.confirmation' }),
  'a block that asks for permission': documentOf({ block: 'ask.permission' })
}

async function opened(document: Json) {
  const clock = new ManualClock()
  const tally = await createRuntime({
    location: MEMORY_LOCATION,
    create: 'if-absent',
    blocks,
    clock
  })
  const run = tally.begin(document, { id: 'run' })
  for await (const event of run) if (event.type === 'run.parked') break
  const journal = async () => {
    const entries: JsonObject[] = []
    for await (const { value } of tally.journal('run')) if (isJsonObject(value)) entries.push(value)
    return entries
  }
  return { tally, run, journal, wait: await waitOf(run) }
}

async function waitOf(run: RunHandle): Promise<OpenWait> {
  const [wait] = await run.waits()
  if (wait === undefined) throw new Error('the run waits for nothing')
  return wait
}

describe.each(Object.entries(documents))('%s and approvers', (_, document) => {
  it('K13: ends once so many approvers have signed, and not before', async () => {
    const { tally, run, journal, wait } = await opened(document)
    expect(wait.approvers).toEqual({ threshold: 2, keys: [...twoOfThree.keys].sort() })
    const { digest, token } = wait
    expect(await run.approve(token, { digest, by: 'Ada' })).toEqual({
      accepted: false,
      reason: 'signature_missing'
    })
    const first = { digest, approval: signed(wait, 'ada') }
    expect(await run.approve(token, first)).toEqual({ accepted: true, isPartial: true })
    expect(await run.approve(token, first)).toMatchObject({ reason: 'already_approved' })
    const between = await waitOf(run)
    expect(between.approvals).toMatchObject([{ key: ada.key, action: 'approve' }])
    expect(() => checkWait('run', between)).not.toThrow()
    const second = { digest, approval: signed(wait, 'cay') }
    expect(await run.approve(token, second)).toEqual({ accepted: true })
    const { response } = await run.result
    expect(response.success).toBe(true)
    const entries = await journal()
    expect(entries.filter(({ k }) => k === 'approval')).toHaveLength(1)
    const sealed = entries.find(({ k, effect }) => k === 'sealed' && effect === 'wait')
    const approvals = sealed && approvalsIn(sealed)
    expect(approvals?.map(({ key }) => key)).toEqual([ada.key, cay.key])
    for (const approval of approvals ?? []) {
      expect(checkApproval({ digest, token, action: 'approve', value: null }, approval)).toBe(true)
    }
    await tally.close()
  })

  it('K13: ends by one signed denial, which an approver may give after approving', async () => {
    const { tally, run, wait } = await opened(document)
    const { digest, token } = wait
    await run.approve(token, { digest, approval: signed(wait, 'ben') })
    expect(await run.deny(token, { digest })).toMatchObject({ reason: 'signature_missing' })
    const approval = signed(wait, 'ben', { action: 'deny' })
    expect(await run.deny(token, { digest, approval })).toEqual({ accepted: true })
    const { response } = await run.result
    const text = JSON.stringify(response)
    expect(text).toContain(ben.key)
    expect(text).toContain('"deny"')
    await tally.close()
  })
})

function approvalsIn({ body }: JsonObject) {
  const by = isJsonObject(body) ? body['by'] : null
  const list = isJsonObject(by) ? by['approvals'] : null
  return (Array.isArray(list) ? list : []) as unknown as { key: string; signature: string }[]
}
