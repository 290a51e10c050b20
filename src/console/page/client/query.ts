import { useEffect, useRef, useState } from 'preact/hooks'
import type { Page, QueryRequests, ServiceRequests } from '../../../runtime/index.js'
import { ApiProblem, ask } from './api.js'

type Requests = QueryRequests & ServiceRequests

export interface Asked<Value> {
  /** The last answer; it stays while the next is on its way. */
  readonly value: Value | null
  readonly problem: ApiProblem | null
}

const nothing = { value: null, problem: null }

/** Does `act` when `key` or `version` changes; what it gives for an earlier key is dropped. */
export function useAsked<Value>(
  key: string | null,
  version: number,
  act: (signal: AbortSignal) => Promise<Value>
): Asked<Value> {
  const [asked, setAsked] = useState<Asked<Value> & { readonly key: string | null }>({
    ...nothing,
    key: null
  })
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    if (key === null) return
    const end = new AbortController()
    latest.current(end.signal).then(
      (value) => {
        if (!end.signal.aborted) setAsked({ value, problem: null, key })
      },
      (thrown: unknown) => {
        if (!end.signal.aborted) setAsked({ value: null, problem: problemOf(thrown), key })
      }
    )
    return () => end.abort()
  }, [key, version])
  return asked
}

/** One query of the ledger, asked anew when its parameters or `version` change; null: not asked. */
export function useQuery<Method extends keyof Requests & string>(
  method: Method,
  params: Requests[Method]['params'] | null,
  version = 0
): Asked<Requests[Method]['result']> {
  const key = params === null ? null : `${method} ${JSON.stringify(params)}`
  return useAsked(key, version, (signal) => {
    if (params === null) throw new ApiProblem('console.not_asked', 'Nothing was asked.')
    return ask(method, params, signal)
  })
}

export interface Paged<Item> extends Asked<readonly Item[]> {
  readonly isWhole: boolean
  /** Asks for the next page, when there is one and none is on its way. */
  readonly more: () => void
}

/** Pages of a list, one after the other; anew when `key` or `version` changes. */
export function usePages<Item>(
  key: string,
  version: number,
  page: (cursor: string | null, signal?: AbortSignal) => Promise<Page<Item>>
): Paged<Item> {
  const first = useAsked(key, version, (signal) => page(null, signal))
  const [rest, setRest] = useState<{ of: unknown; items: readonly Item[]; next: string | null }>()
  const isAsking = useRef(false)
  const current = rest?.of === first.value && rest !== undefined ? rest : undefined
  const next = current === undefined ? (first.value?.next ?? null) : current.next
  const items = [...(first.value?.items ?? []), ...(current?.items ?? [])]
  const more = () => {
    if (next === null || isAsking.current) return
    isAsking.current = true
    const of = first.value
    page(next).then(
      (found) => {
        isAsking.current = false
        setRest({ of, items: [...(current?.items ?? []), ...found.items], next: found.next })
      },
      () => {
        isAsking.current = false
      }
    )
  }
  const value = first.value === null ? null : items
  return { value, problem: first.problem, isWhole: next === null, more }
}

export function problemOf(thrown: unknown): ApiProblem {
  if (thrown instanceof ApiProblem) return thrown
  return new ApiProblem('console.fault', thrown instanceof Error ? thrown.message : String(thrown))
}
