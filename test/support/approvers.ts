import type { OpenWait } from '../../src/block/index.js'
import { defineBlock } from '../../src/code/index.js'
import type { Json } from '../../src/core/index.js'
import { type KeySignature, signApproval } from '../../src/identity/index.js'
import { getPublicKey } from '../../src/identity/keys.js'

/** Approvers with fixed keys, and documents and blocks that ask them. */

const seedOf = (byte: number) => new Uint8Array(32).fill(byte)

export const approvers = {
  ada: { seed: seedOf(11), key: getPublicKey(seedOf(11)) },
  ben: { seed: seedOf(12), key: getPublicKey(seedOf(12)) },
  cay: { seed: seedOf(13), key: getPublicKey(seedOf(13)) },
  /** In no list. */
  eve: { seed: seedOf(66), key: getPublicKey(seedOf(66)) }
} as const

export type ApproverName = keyof typeof approvers

/** Two of Ada, Ben and Cay. */
export const twoOfThree = {
  threshold: 2,
  keys: [approvers.cay.key, approvers.ada.key, approvers.ben.key]
}

/** A block that asks its approvers, and gives the answer. */
export const askApprovers = (reason: 'confirmation' | 'permission' | 'external') =>
  defineBlock({
    name: `ask.${reason}`,
    version: '1.0.0',
    sideEffects: 'none',
    run: async (ctx) => ({
      ...(await ctx.wait({ reason, request: { pay: '10.00' }, approvers: twoOfThree }))
    })
  })

export const payBlock = defineBlock({
  name: 'pay',
  version: '1.0.0',
  sideEffects: 'none',
  run: () => ({ paid: true })
})

export function documentOf(node: Json): Json {
  const head = { schema: 'tally-composite/1', name: 'approved', version: '1.0.0' }
  return { ...head, entry_point: 'only', nodes: { only: node } }
}

/** What an approver signs of a wait. */
export function signed(
  wait: Pick<OpenWait, 'digest' | 'token'>,
  by: ApproverName,
  { action = 'approve', value = null }: { readonly action?: string; readonly value?: Json } = {}
): KeySignature {
  const { digest, token } = wait
  return signApproval({ digest, token, action, value }, approvers[by].seed)
}

/** The signature of the first approver of a wait who has not signed yet; none without approvers. */
export function nextSignature(
  wait: OpenWait,
  answer: { readonly action: string; readonly value: Json }
): KeySignature | undefined {
  const { approvers: asked, approvals = [] } = wait
  const isNext = ({ key }: { readonly key: string }) =>
    asked?.keys.some((one) => one === key) === true && approvals.every((one) => one.key !== key)
  const [next] = Object.entries(approvers).filter(([, approver]) => isNext(approver))
  return next && signed(wait, next[0] as ApproverName, answer)
}
