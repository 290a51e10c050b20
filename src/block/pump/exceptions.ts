import { saysAll } from '../../code/index.js'
import { exceptionOf } from '../../core/index.js'
import type { Attempt } from './attempt.js'
import type { PumpParts } from './parts.js'

/**
 * Tells of what an attempt has thrown: those who keep it hear of it at once, those who follow the
 * run once what led to it is durable (D2). Nothing of it is decided on.
 */
export function tellThrown(
  { host, state, writer }: Pick<PumpParts, 'host' | 'state' | 'writer'>,
  { ask, block, attribution }: Attempt,
  thrown: { readonly thrown: unknown; readonly effect?: string; readonly seq?: number }
): void {
  if (saysAll(thrown.thrown)) return
  const { path, step, attempt } = ask
  const { effect, seq } = thrown
  const exception = exceptionOf(thrown.thrown, (text) => host.redactor.text(text))
  const found = {
    path,
    step,
    attempt,
    block: block.name,
    exception,
    ...(effect === undefined || seq === undefined ? {} : { effect, seq })
  }
  const { runId } = state
  const at = writer.now()
  const isPrivate = block.isInputPrivate || attribution?.isInputPrivate === true
  const shown = isPrivate ? { ...found, exception: withheld(exception) } : found
  host.threw?.(runId, at, shown)
  writer.emit({ type: 'exception', runId, at, ...shown })
}

type Exception = ReturnType<typeof exceptionOf>

/** Where it was thrown, and nothing of what may quote an input that is private. */
function withheld({ name, stack, cause }: Exception): Exception {
  const message = 'withheld, since the input of the block is private'
  return { name, message, stack, ...(cause === undefined ? {} : { cause: withheld(cause) }) }
}
