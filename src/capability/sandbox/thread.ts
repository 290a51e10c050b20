import type {
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSSyncVariant
} from 'quickjs-emscripten-core'
import type { GasMeter, GasUnit } from './gas-meter.js'
import type { HostCallLog } from './host-call-log.js'
import type { ReadAnswer, RunMessage, ThreadData, ThreadMessage } from './protocol.js'

type Threads = typeof import('node:worker_threads')
type Core = typeof import('quickjs-emscripten-core')

/** The engine's memory at a point where a guest can be started. */
interface Image {
  readonly low: Uint8Array
  readonly heap: Uint8Array
  /** The package's `run`; absent in the image from which packages are loaded. */
  readonly run?: QuickJSHandle
}

/**
 * One guest at a time inside a worker thread. Only types may be imported here: the pool starts the
 * thread from this class's *text*, so that it runs from sources, from a bundle, and wherever a
 * file beside the module does not exist.
 *
 * Owns: one engine instance of fixed memory, and images of it with a package loaded. Does not own:
 * the wall clock, canonical text, and what an outcome is called (the pool's and the sandbox's).
 *
 * Invariants:
 * - X1 Every execution begins with the same bytes of engine memory: the image is restored, the
 *   stack zeroed, the heap beyond it zeroed. So results, gas and the point of exhaustion do not
 * depend on
 *   what ran before.
 * - X2 The engine has no clock and no time zone: its imports for them give the frozen time and UTC.
 * - X3 A limit once exceeded unwinds the engine at once, names the outcome, and is nothing to
 *   catch: the guest sees no more.
 * - X5 After a fault of the engine the thread takes no more work.
 */
export class SandboxThread {
  readonly #threads: Threads
  readonly #core: Core
  readonly #variant: QuickJSSyncVariant
  readonly #data: ThreadData
  readonly #log: HostCallLog
  readonly #gas: GasMeter
  readonly #memory: EngineMemory
  readonly #bytes: Uint8Array
  readonly #words: Uint32Array
  readonly #images = new Map<string, Image>()
  #runtime: QuickJSRuntime | undefined
  #context: QuickJSContext | undefined
  #start: QuickJSHandle | undefined
  #settle: QuickJSHandle | undefined
  #base: Image | undefined
  #resetStack: () => void = () => undefined
  readonly #stop = new Error('a limit is exceeded')

  #now = 0
  #microtasks = 0
  #microtasksMax = 0

  constructor(parts: {
    readonly threads: Threads
    readonly core: Core
    readonly variant: QuickJSSyncVariant
    readonly Log: typeof HostCallLog
    readonly Meter: typeof GasMeter
  }) {
    const { threads, core, variant, Log, Meter } = parts
    this.#threads = threads
    this.#core = core
    this.#variant = variant
    this.#log = new Log((key) => this.#read(key))
    this.#data = threads.workerData
    this.#gas = new Meter(this.#data.steps)
    const { pages } = this.#data.memory
    this.#memory = new WebAssembly.Memory({ initial: pages, maximum: pages })
    this.#bytes = new Uint8Array(this.#memory.buffer)
    this.#words = new Uint32Array(this.#memory.buffer)
  }

  async boot(): Promise<void> {
    const { prelude, stackBytes } = this.#data
    const module = await this.#core.newQuickJSWASMModuleFromVariant(await this.#closedVariant())
    const runtime = module.newRuntime()
    runtime.setMaxStackSize(stackBytes)
    // Without a handler it would not poll; polls are answered where it asks for them.
    runtime.setInterruptHandler(() => undefined)
    const context = runtime.newContext({
      intrinsics: { ...this.#core.DefaultIntrinsics, Proxy: false }
    })
    this.#runtime = runtime
    this.#context = context
    this.#allow(this.#data.load, 'polls')
    const host = context.newFunction('host', (operation, name, text) =>
      context.newString(
        this.#log.answer(
          context.getString(operation),
          context.getString(name),
          context.getString(text)
        )
      )
    )
    const build = context.unwrapResult(context.evalCode(prelude, 'prelude.js'))
    const built = context.unwrapResult(context.callFunction(build, context.undefined, host))
    this.#start = context.getProp(built, 'start')
    this.#settle = context.getProp(built, 'settle')
    this.#base = this.#takeImage()
    const port = this.#threads.parentPort
    port?.on('message', (message: RunMessage) => this.#post(this.#take(message)))
    this.#post({ type: 'ready' })
  }

  #post(message: ThreadMessage): void {
    this.#threads.parentPort?.postMessage(message)
  }

  /** The engine with our memory, and imports from which no time or zone can be learnt (X2). */
  async #closedVariant(): Promise<QuickJSSyncVariant> {
    const variant = this.#variant
    let load: unknown = await variant.importModuleLoader()
    // How deep the loader stands depends on how its module was loaded.
    while (typeof load !== 'function') load = (load as { readonly default: unknown }).default
    const silent = () => undefined
    return {
      ...variant,
      importModuleLoader: async () => (options) =>
        (load as EngineLoader)({
          ...options,
          wasmMemory: this.#memory,
          print: silent,
          printErr: silent,
          instantiateWasm: (imports: EngineImports, done: (instance: unknown) => void) => {
            const instance = new WebAssembly.Instance(this.#data.wasm, this.#closed(imports))
            // Ma sets the C stack's pointer, which a stop leaves where it was, and Oa tells it.
            this.#gas.attach(instance.exports[this.#data.meterName] as EngineGlobal)
            const top = (instance.exports['Oa'] as EngineFunction)()
            this.#resetStack = () => (instance.exports['Ma'] as EngineFunction)(top)
            done(instance)
            return {}
          }
        })
    }
  }

  // The names are those of the pinned bytes: p the time, m local time, n the zone, k more memory,
  // s a call of the host, i the interrupt handler.
  #closed({ a }: EngineImports): EngineImports {
    const zero = (from: number, length: number) => {
      this.#bytes.fill(0, from, from + length)
    }
    return {
      a: {
        ...a,
        p: () => this.#now,
        m: (_time, fields) => zero(Number(fields), 44),
        n: (zone, daylight) => {
          zero(Number(zone), 4)
          zero(Number(daylight), 4)
        },
        k: () => {
          this.#log.exceed('memory_exceeded')
          return this.#stopIfExceeded()
        },
        i: () => {
          this.#gas.polled()
          if (this.#gas.isSpent) this.#log.exceed('gas_exceeded')
          return this.#stopIfExceeded()
        },
        s: (...call) => {
          const answer = a['s']?.(...call)
          this.#stopIfExceeded()
          return answer
        }
      }
    }
  }

  #stopIfExceeded(): 0 {
    if (this.#log.exceeded !== undefined) throw this.#stop
    return 0
  }

  #take(message: RunMessage): ThreadMessage {
    const { codeHash, bundle, gasUnit } = message
    this.#now = 0
    this.#log.begin(message)
    this.#allow(this.#data.load, gasUnit)
    let engineFault: string | undefined
    try {
      if (this.#images.get(codeHash) === undefined) {
        if (bundle === undefined) return { type: 'unknown_package' }
        this.#load(codeHash, bundle)
      }
      const image = this.#images.get(codeHash)
      const divergedAt = image && this.#run(message, image)
      if (image !== undefined) return this.#report(divergedAt)
    } catch (error) {
      // Metered code traps where its gas has run out.
      if (error !== this.#stop && !this.#gas.isSpent) engineFault = String(error)
    }
    return this.#report(undefined, engineFault)
  }

  #report(divergedAt?: number, engineFault?: string): ThreadMessage {
    // A trap inside of a call of the host is thrown to the guest first.
    if (this.#gas.isSpent) this.#log.exceed('gas_exceeded')
    const report = this.#log.report(this.#gas.ticks, divergedAt, engineFault)
    return { type: 'report', report }
  }

  #allow({ gasTicks, microtasks }: ThreadData['load'], gasUnit: GasUnit): void {
    this.#gas.allow(gasTicks, gasUnit)
    this.#microtasks = 0
    this.#microtasksMax = microtasks
  }

  /** Evaluates the package's module once; every execution begins from the image taken here. */
  #load(codeHash: string, bundle: string): void {
    const context = this.#engine(this.#context)
    this.#restore(this.#engine(this.#base))
    const evaluated = context.evalCode(bundle, 'package.js', { type: 'module' })
    this.#drain()
    if (evaluated.error !== undefined) {
      this.#log.end({ kind: 'not_loaded', ...this.#describe(evaluated.error) })
      return
    }
    const exported = this.#exportsOf(evaluated.value)
    if (exported === undefined || this.#log.exceeded !== undefined) return
    const run = context.getProp(exported, 'run')
    if (context.typeof(run) !== 'function') {
      const message = 'the module does not export a function run'
      this.#log.end({ kind: 'not_loaded', name: 'Error', message })
      return
    }
    this.#keep(codeHash, { ...this.#takeImage(), run })
  }

  #keep(codeHash: string, image: Image): void {
    const { imagesMax, imageBytesMax } = this.#data
    this.#images.set(codeHash, image)
    let bytes = 0
    for (const { low, heap } of this.#images.values()) bytes += low.length + heap.length
    for (const [oldest, { low, heap }] of this.#images) {
      if (this.#images.size <= imagesMax && bytes <= imageBytesMax) return
      this.#images.delete(oldest)
      bytes -= low.length + heap.length
    }
  }

  // A module with a top-level await evaluates to a promise of its exports.
  #exportsOf(value: QuickJSHandle): QuickJSHandle | undefined {
    const state = this.#engine(this.#context).getPromiseState(value)
    if (state.type === 'fulfilled') return state.value
    this.#log.end(
      state.type === 'rejected'
        ? { kind: 'not_loaded', ...this.#describe(state.error) }
        : { kind: 'not_loaded', name: 'Error', message: 'the module waits for ever' }
    )
    return undefined
  }

  #describe(error: QuickJSHandle): { readonly name: string; readonly message: string } {
    const context = this.#engine(this.#context)
    const part = (name: string, lengthMax: number) => {
      const value = context.getProp(error, name)
      return context.typeof(value) === 'string' ? context.getString(value).slice(0, lengthMax) : ''
    }
    return { name: part('name', 100) || 'Error', message: part('message', 1000) }
  }

  /** Runs the package; the number of a recorded result for which it had not made a call. */
  #run(message: RunMessage, image: Image): number | undefined {
    const context = this.#engine(this.#context)
    this.#restore(image)
    this.#now = message.now
    this.#allow(message.limits, message.gasUnit)
    this.#log.countBytes(message.intentText)
    const started = context.callFunction(
      this.#engine(this.#start),
      context.undefined,
      this.#engine(image.run),
      context.newString(message.intentText),
      context.newString(JSON.stringify(message.declared)),
      context.newNumber(message.now),
      ...message.words.map((word) => context.newNumber(word))
    )
    if (started.error !== undefined) {
      this.#log.end({ kind: 'thrown', ...this.#describe(started.error) })
    }
    this.#drain()
    for (const { seq, ok, text } of message.recorded) {
      if (this.#log.exceeded !== undefined) break
      if (!this.#log.hasCall(seq)) return seq
      this.#log.countBytes(text)
      const settled = context.callFunction(
        this.#engine(this.#settle),
        context.undefined,
        context.newNumber(seq),
        ok ? context.true : context.false,
        context.newString(text)
      )
      // Only a guest that broke its own built-ins gets here; it waits for ever then.
      if (settled.error !== undefined) break
      this.#drain()
    }
    return undefined
  }

  #drain(): void {
    const runtime = this.#engine(this.#runtime)
    while (this.#log.exceeded === undefined && runtime.hasPendingJob()) {
      if (this.#microtasks >= this.#microtasksMax) {
        this.#log.exceed('microtasks_exceeded')
        return
      }
      const ran = runtime.executePendingJobs(1)
      this.#microtasks += 1
      if (ran.error !== undefined) ran.error.dispose()
    }
  }

  /** The state belongs to the pool's thread: ask, and sleep until the answer lies there. */
  #read(key: string): ReadAnswer {
    const wake = new Int32Array(this.#data.wake)
    this.#post({ type: 'read', key })
    // The wake-up call of an earlier answer may come late; only the flag counts.
    while (Atomics.load(wake, 0) === 0) Atomics.wait(wake, 0, 0)
    Atomics.store(wake, 0, 0)
    return this.#threads.receiveMessageOnPort(this.#data.answers)?.message ?? {}
  }

  #takeImage(): Image {
    const { staticEnd, heapStart } = this.#data.memory
    return {
      low: this.#bytes.slice(0, staticEnd),
      heap: this.#bytes.slice(heapStart, this.#heapEnd())
    }
  }

  #restore({ low, heap }: Image): void {
    const { heapStart } = this.#data.memory
    const heapEnd = this.#heapEnd()
    this.#resetStack()
    this.#bytes.set(low, 0)
    this.#bytes.set(heap, heapStart)
    this.#bytes.fill(0, heapStart + heap.length, heapEnd)
    this.#bytes.fill(0, heapStart - 2 * this.#data.stackBytes, heapStart)
  }

  #heapEnd(): number {
    return this.#words[this.#data.memory.heapEndAddress >> 2] ?? 0
  }

  #engine<Part>(part: Part | undefined): Part {
    if (part === undefined) throw new Error('the engine is not started')
    return part
  }
}

type EngineLoader = (options: object) => Promise<never>

interface EngineImports {
  readonly a: Readonly<Record<string, EngineFunction>>
}

type EngineFunction = (...parameters: readonly unknown[]) => unknown

interface EngineGlobal {
  value: bigint
}

interface EngineMemory {
  readonly buffer: ArrayBuffer
}

// The library of types has no values of WebAssembly without those of a browser.
declare const WebAssembly: {
  readonly Memory: new (pages: {
    readonly initial: number
    readonly maximum: number
  }) => EngineMemory
  readonly Instance: new (
    module: object,
    imports: EngineImports
  ) => { readonly exports: Readonly<Record<string, EngineFunction | EngineGlobal>> }
}
