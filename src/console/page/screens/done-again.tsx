import { useState } from 'preact/hooks'
import type { Calls, ServiceRequests } from '../../../runtime/index.js'
import { type ApiProblem, ask } from '../client/api.js'
import { problemOf } from '../client/query.js'
import { Check, NotChecked, Problem, Section } from '../parts/basics.js'
import { JsonView } from '../parts/json-view.js'
import type { RunStep } from '../pure/run-steps.js'
import { shownLine } from '../pure/shown-text.js'
import { Damage } from './verification-verdict.js'

type Replayed = ServiceRequests['replay']['result']

interface Made {
  readonly calls: Calls
  /** Of a step that has a receipt: the comparison with all that it signs. */
  readonly replayed: Replayed | null
  /** Why it could not be compared. */
  readonly problem: ApiProblem | null
}

/** Does a step again on its sealed responses, and compares it with what is recorded. */
export function DoneAgain({ runId, step }: { readonly runId: string; readonly step: RunStep }) {
  const [made, setMade] = useState<Made | ApiProblem | 'underway' | null>(null)
  const doAgain = () => {
    setMade('underway')
    executeAgain(runId, step).then(setMade, (thrown: unknown) => setMade(problemOf(thrown)))
  }
  return (
    <Section title="Done again" isOpen={false}>
      <button type="button" class="btn" disabled={made === 'underway'} onClick={doAgain}>
        Execute it again and compare
      </button>
      {made === null ? (
        <p class="mut">Its code runs on the sealed responses. Nothing is sent.</p>
      ) : made === 'underway' ? (
        <p class="mut">Reading the ledger up to it …</p>
      ) : 'calls' in made ? (
        <Comparison made={made} step={step} />
      ) : (
        <Problem of={made} />
      )}
    </Section>
  )
}

async function executeAgain(id: string, step: RunStep): Promise<Made> {
  const { path, step: number, attempts, receiptHash } = step
  const calls = await ask('calls', { id, path, step: number, attempt: Math.max(1, attempts) })
  if (receiptHash === null) return { calls, replayed: null, problem: null }
  try {
    const replayed = await ask('replay', { hash: receiptHash })
    return { calls, replayed, problem: null }
  } catch (thrown) {
    return { calls, replayed: null, problem: problemOf(thrown) }
  }
}

function Comparison({ made, step }: { readonly made: Made; readonly step: RunStep }) {
  const { calls, replayed, problem } = made
  const hasOutputs = calls.output !== null && step.response !== null
  return (
    <>
      {problem === null ? null : <Problem of={problem} />}
      {replayed === null ? null : <Verdict of={replayed} />}
      {replayed === null && hasOutputs ? <SameOutput calls={calls} step={step} /> : null}
      <NotChecked texts={[...new Set([...calls.notChecked, ...(replayed?.notChecked ?? [])])]} />
      {calls.calls.map((call) => (
        <div class="card" key={call.seq}>
          <b>{shownLine(call.effect)}</b>
          <JsonView value={call.request} label="Request" />
        </div>
      ))}
    </>
  )
}

/** Whether all that the receipt signs came out again. */
function Verdict({ of: { ok: isSame, index, failure } }: { readonly of: Replayed }) {
  if (failure !== undefined) {
    const at = failure.index === index ? 'It came out otherwise' : `Receipt ${failure.index} did`
    return (
      <>
        <Check verdict="broken">{`${at}: signed, and what this execution gave`}</Check>
        <Damage failure={failure} />
      </>
    )
  }
  if (!isSame) {
    return <Check verdict="unknown">not all of it could be executed again</Check>
  }
  return (
    <Check verdict="holds">
      executed twice: requests, output and changes of state are those that receipt {index} signs
    </Check>
  )
}

/** A failed attempt has no receipt: its output is compared with what the journal has. */
function SameOutput({ calls, step }: { readonly calls: Calls; readonly step: RunStep }) {
  const isSame = JSON.stringify(calls.output) === JSON.stringify(step.response)
  if (isSame) return <Check verdict="holds">it gave the same output</Check>
  const output = calls.output?.success === true ? calls.output.data : calls.output?.details
  return (
    <>
      <Check verdict="unknown">its output is written otherwise than the journal has it</Check>
      <JsonView value={output ?? null} label="Output of this execution" />
    </>
  )
}
