import { useState } from 'preact/hooks'
import type { Calls, ReceiptView } from '../../../runtime/index.js'
import { type ApiProblem, ask } from '../client/api.js'
import { problemOf, useAsked } from '../client/query.js'
import { Check, Facts, Hash, NotChecked, Problem, Section } from '../parts/basics.js'
import { JsonView } from '../parts/json-view.js'
import { hashOf } from '../pure/jcs.js'
import { shownLine } from '../pure/shown-text.js'

type Call = Calls['calls'][number]
type Sealed = ReceiptView['receipt']['inputPayload']['sealed'][number]

interface Read {
  readonly calls: Calls | null
  readonly problem: ApiProblem | null
}

/** The answers that a receipt signs by their hashes, as the run's journal has them. */
export function SealedResponses({ view }: { readonly view: ReceiptView }) {
  const { sealed, run } = view.receipt.inputPayload
  const [read, setRead] = useState<Read | null>(null)
  if (sealed.length === 0) return null
  const open = () => {
    if (read !== null || run === undefined) return
    const { runId: id, path, step, attempt } = run
    ask('calls', { id, path, step, attempt }).then(
      (calls) => setRead({ calls, problem: null }),
      (thrown: unknown) => setRead({ calls: null, problem: problemOf(thrown) })
    )
  }
  const calls = read?.calls ?? null
  return (
    <Section title={`Sealed responses (${sealed.length})`} isOpen={false} onOpen={open}>
      {read?.problem == null ? null : <Problem of={read.problem} />}
      {sealed.map((one) => (
        <Response
          key={one.seq}
          sealed={one}
          call={calls?.calls.find(({ seq }) => seq === one.seq) ?? null}
          isRead={read !== null}
        />
      ))}
      {calls === null ? null : <NotChecked texts={calls.notChecked} />}
    </Section>
  )
}

function Response(props: {
  readonly sealed: Sealed
  readonly call: Call | null
  readonly isRead: boolean
}) {
  const { sealed, call, isRead } = props
  const { effect, requestHash, responseHash, bytes } = sealed
  return (
    <div class="card">
      <b>{shownLine(effect)}</b>
      <Facts
        rows={[
          ['request', <Hash key="request" hash={requestHash} length={16} />],
          ['response', <Hash key="response" hash={responseHash} length={16} />],
          ['bytes', String(bytes)]
        ]}
      />
      {call === null ? (
        <p class="mut">{isRead ? 'The journal does not have it here.' : 'Reading it …'}</p>
      ) : (
        <>
          {call.request === null ? null : <JsonView value={call.request} label="Request" />}
          <JsonView value={call.response} label="Sealed response" />
          <ResponseHash call={call} signed={responseHash} />
        </>
      )}
    </div>
  )
}

/** Whether the response that is drawn hashes to what the receipt signs. */
function ResponseHash({ call, signed }: { readonly call: Call; readonly signed: string }) {
  const { response: body, salt } = call
  const { value: hash } = useAsked(signed, 0, () => hashOf({ body, salt }))
  if (hash === null) return null
  if (hash === signed) {
    return (
      <Check verdict="holds">this page hashed the response: it is the one that is signed</Check>
    )
  }
  return <Check verdict="unknown">it is shown otherwise than it is hashed</Check>
}
