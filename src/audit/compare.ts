import { differing, type Finding, firstOf, type UnitDraft } from '../block/index.js'
import { sha256Hex } from '../core/index.js'
import type { VerifiedReceipt } from '../ledger/index.js'

/** Compares a receipt with the unit of work that doing it again gives; the first difference. */
export function compareUnit(draft: UnitDraft, verified: VerifiedReceipt): Finding | undefined {
  const { receipt, payloadText, raw } = verified
  const { inputPayload: input } = receipt
  const { run, seed, provider } = draft
  return firstOf(
    differing('inputPayload.id', draft.id, input.id),
    differing('intent', draft.action, receipt.intent),
    differing('dappId', draft.dappId, receipt.dappId),
    differing('inputPayload.run', run, input.run),
    payloadText === undefined
      ? undefined
      : differing('inputPayload.payload', draft.payloadText, payloadText),
    differing('inputPayload.raw', draft.raw, raw),
    differing('inputPayload.principal', draft.principal, input.principal),
    differing('inputPayload.seed', seed, input.seed),
    differing('inputPayload.provider', provider, input.provider),
    differing('inputPayload.sealed', draft.sealed, input.sealed),
    differing('timestamp', Math.floor(draft.at / 1000), receipt.timestamp),
    differing('capabilitiesDeclared', draft.capabilitiesDeclared, receipt.capabilitiesDeclared),
    differing('capabilitiesUsed', draft.capabilitiesUsed, receipt.capabilitiesUsed),
    resultFinding(draft, verified),
    writesFinding(draft, verified)
  )
}

function resultFinding({ resultText }: UnitDraft, verified: VerifiedReceipt): Finding | undefined {
  if (verified.resultText === undefined || verified.resultText === resultText) return undefined
  return { field: 'resultHash', signed: verified.resultText, computed: resultText }
}

/** The first key whose change differs, with both values and the one before. */
function writesFinding({ writes }: UnitDraft, verified: VerifiedReceipt): Finding | undefined {
  const { changes, stateBefore } = verified
  if (writes.size === 0 && changes.length === 0) return undefined
  const recorded = new Map(changes.map(({ key, text }) => [key, text]))
  for (const key of [...new Set([...writes.keys(), ...recorded.keys()])].sort()) {
    const before = stateBefore.read(key)
    const again = writes.has(key) ? (writes.get(key) ?? null) : (before ?? null)
    const isWithheld = recorded.has(key) && recorded.get(key) === undefined
    const after = recorded.has(key) ? (recorded.get(key) ?? null) : (before ?? null)
    if (isWithheld ? isNamed(verified, again) : again === after) continue
    return {
      field: 'writeSet',
      key,
      signed: isWithheld ? 'another value, withheld' : (after ?? 'absent'),
      computed: again ?? 'absent',
      before: before ?? 'absent'
    }
  }
  return undefined
}

/** Whether the write set names this value by its hash. */
function isNamed({ writeSetText }: VerifiedReceipt, text: string | null): boolean {
  return text !== null && writeSetText.includes(`{"$blob":"${sha256Hex(text)}"`)
}
