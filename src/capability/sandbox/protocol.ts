/**
 * The messages between the pool and its threads. One request at a time and thread; each ends with
 * one `GuestReport`, unless the thread is terminated. All texts are JSON.
 */

import type { GasUnit, StepLimits } from './gas-meter.js'

/** Limits of one execution; each has a default in `core/limits.ts`. */
export interface SandboxLimits {
  /** Ticks of {@link RunMessage.gasUnit}. */
  readonly gasTicks: number
  /** Calls of the scoped API that reach the host. */
  readonly hostCalls: number
  /** UTF-8 bytes that cross between guest and host, intent and result included. */
  readonly hostBytes: number
  /** Microtasks. */
  readonly microtasks: number
  /** Wall-clock time after which the thread is terminated; not deterministic, see `killed`. */
  readonly wallMs: number
}

export interface RunMessage {
  readonly codeHash: string
  /** Absent when the thread should hold the package already. */
  readonly bundle?: string
  readonly gasUnit: GasUnit
  readonly intentText: string
  readonly declared: readonly string[]
  readonly granted: readonly string[]
  /** Milliseconds; what `Date` and `api.now()` give. */
  readonly now: number
  /** The four words of the random source. */
  readonly words: readonly [number, number, number, number]
  /** Results of earlier calls in delivery order. */
  readonly recorded: readonly RecordedResultMessage[]
  readonly limits: SandboxLimits
}

export interface RecordedResultMessage {
  readonly seq: number
  readonly ok: boolean
  readonly text: string
}

/** thread -> pool. */
export type ThreadMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'read'; readonly key: string }
  | { readonly type: 'unknown_package' }
  | { readonly type: 'report'; readonly report: GuestReport }

/** pool -> thread, on the port for answers; `text` is absent when the key is. */
export interface ReadAnswer {
  readonly text?: string
}

export interface GuestCall {
  readonly seq: number
  readonly capability: string
  readonly text: string
}

/** Everything that happened in one execution, as seen from outside the guest. */
export interface GuestReport {
  readonly ending:
    | { readonly kind: 'done'; readonly text: string }
    | { readonly kind: 'thrown'; readonly name: string; readonly message: string }
    /** What `run` returned cannot cross: cyclic, not finite, not plain. */
    | { readonly kind: 'unfit'; readonly name: string; readonly message: string }
    /** Neither returned nor thrown when nothing more could happen. */
    | { readonly kind: 'pending' }
    /** The package's module did not load. */
    | { readonly kind: 'not_loaded'; readonly name: string; readonly message: string }
  /** The first limit that was exceeded, whatever the guest did afterwards. */
  readonly exceeded?: ExceededLimit
  /** `seq` of a recorded result for which the guest had not made a call. */
  readonly divergedAt?: number
  readonly calls: readonly GuestCall[]
  /** In order of first writing; null deletes. */
  readonly writes: readonly (readonly [key: string, text: string | null])[]
  readonly used: readonly string[]
  readonly denied: readonly { readonly capability: string; readonly times: number }[]
  readonly gasTicks: number
  /** A fault of the engine; the thread must not be used again. */
  readonly engineFault?: string
}

export type ExceededLimit =
  | 'gas_exceeded'
  | 'memory_exceeded'
  | 'host_calls_exceeded'
  | 'host_bytes_exceeded'
  | 'microtasks_exceeded'

/** What a thread is started with. */
export interface ThreadData {
  readonly coreFile: string
  readonly variantFile: string
  /** A compiled module. The types of WebAssembly are those of a browser. */
  readonly wasm: object
  readonly prelude: string
  readonly stackBytes: number
  /** Name of the engine's count of steps. */
  readonly meterName: string
  readonly steps: StepLimits
  readonly imagesMax: number
  readonly imageBytesMax: number
  /** What loading a package may use; the same for all, since the image of a loaded one is kept. */
  readonly load: { readonly gasTicks: number; readonly microtasks: number }
  readonly memory: {
    readonly staticEnd: number
    readonly heapStart: number
    readonly heapEndAddress: number
    readonly pages: number
  }
  /** One word: 1 once an answer lies on `answers`. */
  readonly wake: SharedArrayBuffer
  readonly answers: import('node:worker_threads').MessagePort
}
