import type { Receipt } from '../../../ledger/index.js'
import { status } from '../client/live.js'
import { useAsked, useQuery } from '../client/query.js'
import { Check } from '../parts/basics.js'
import { linkTo } from '../pure/addresses.js'
import type { RecordCheck } from '../pure/receipt-check.js'

/** Hash and signature of a signed record, as this page computed them from what it draws. */
export function SignatureCheck(props: {
  /** Of the record. */
  readonly hash: string
  readonly identity: string
  readonly check: () => Promise<RecordCheck | undefined>
}) {
  const { hash, identity } = props
  const { value: found, problem } = useAsked(`signature ${hash}`, 0, props.check)
  if (problem !== null) {
    return <Check verdict="unknown">this browser cannot check its signature</Check>
  }
  if (found === null) return <Check verdict="unknown">checking its signature …</Check>
  if (found === undefined) return <Check verdict="broken">it is no signed record</Check>
  const known = status.value?.identity
  return (
    <>
      {found.isSigned ? (
        found.isHashed ? (
          <Check verdict="holds">this page checked its hash and its signature</Check>
        ) : (
          <Check verdict="unknown">
            its hash is signed, and what is shown has another one: it was altered, or a secret of it
            is not shown
          </Check>
        )
      ) : (
        <Check verdict="broken">its signature is not one of its key: do not trust it</Check>
      )}
      {known === undefined || known === identity ? null : (
        <Check verdict="broken">it is of another identity than this ledger</Check>
      )}
      {found.isFirstKey ? null : (
        <Check verdict="unknown">
          its key is a later one of the identity: a verification says whether it was in force
        </Check>
      )}
    </>
  )
}

/** Whether a receipt follows the one before it, by hash and by state. */
export function LinkCheck(props: { readonly index: number; readonly receipt: Receipt }) {
  const { index, receipt } = props
  const { previousReceiptHash, previousStateRoot } = receipt
  const { value: before, problem } = useQuery('receipt', index === 0 ? null : { index: index - 1 })
  if (index === 0) {
    return previousReceiptHash === null ? (
      <Check verdict="holds">it is the first of the chain</Check>
    ) : (
      <Check verdict="broken">it names one before it, and there is none</Check>
    )
  }
  if (problem !== null) return <Check verdict="unknown">the one before it cannot be read</Check>
  if (before === null) return null
  const { receiptHash, nextStateRoot } = before.receipt
  const isLinked = receiptHash === previousReceiptHash && nextStateRoot === previousStateRoot
  return (
    <Check verdict={isLinked ? 'holds' : 'broken'}>
      {isLinked ? 'it follows ' : 'it does not follow '}
      <a
        class="link"
        href={linkTo('ledger', index - 1)}
        data-replace=""
      >{`receipt ${index - 1}`}</a>
      , by hash and by state
    </Check>
  )
}
