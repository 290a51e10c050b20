/**
 * Blocks with one planted bug each: code that goes past `ctx`. The line of the bug ends with a
 * comment that names what is to be found there: `found: KIND, API`.
 */
import { exec, spawnSync } from 'node:child_process'
import { createHash, randomBytes, webcrypto } from 'node:crypto'
import { lookup } from 'node:dns'
import { existsSync, promises, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { Session } from 'node:inspector'
import { connect, Socket } from 'node:net'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout as later } from 'node:timers/promises'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import { gzip } from 'node:zlib'
import { defineBlock } from '../../../../dist/src/code/index.js'

const block = (name, run) =>
  defineBlock({ name: name.replaceAll(' ', '_'), version: '1.0.0', sideEffects: 'none', run })

const now = Date.now
const Clock = Date
const { random } = Math
const { env, hrtime } = process
const { getRandomValues } = globalThis.crypto
const startedAt = Date.now() // found: clock, Date.now when it is loaded
let count = 0 // found: module state, variable count
const seen = new Map() // found: module state, variable seen

const kept = new Socket()
const hidden = new (class {
  #count = 0
  next() {
    this.#count += 1
    return this.#count
  }
})()

const never = () => new Promise(() => undefined)

export const planted = {
  now: block('now', () => Date.now()), // found: clock, Date.now
  kept_now: block('kept_now', () => now()), // found: clock, Date.now
  kept_date: block('kept_date', () => new Clock().getTime()), // found: clock, new Date()
  date_of_a_date: block('date_of_a_date', () => new new Date(0).constructor().getTime()), // found: clock, new Date()
  date_called: block('date_called', () => Date().length), // found: clock, Date()
  performance: block('performance', () => performance.now() > 0), // found: clock, performance.now
  hrtime: block('hrtime', () => String(hrtime.bigint())), // found: clock, process.hrtime.bigint
  formatted_now: block('formatted_now', () => {
    const format = new Intl.DateTimeFormat('en', { timeZone: 'UTC' })
    return format.format() // found: clock, Intl.DateTimeFormat.format
  }),
  handed_over: block('handed_over', () => [1].map(Date.now)), // found: clock, Date.now
  after_await: block('after_await', async () => {
    await undefined
    return new Date().toISOString() // found: clock, new Date()
  }),
  at_load: block('at_load', () => startedAt),
  chance: block('chance', () => Math.random()), // found: chance, Math.random
  kept_chance: block('kept_chance', () => random()), // found: chance, Math.random
  random_bytes: block('random_bytes', () => randomBytes(4).toString('hex')), // found: chance, node:crypto randomBytes
  random_uuid: block('random_uuid', () => webcrypto.randomUUID()), // found: chance, crypto.randomUUID
  kept_values: block(
    'kept_values',
    () => [...getRandomValues.call(globalThis.crypto, new Uint8Array(2))] // found: chance, crypto.getRandomValues
  ),
  timeout: block('timeout', () => {
    setTimeout(() => undefined, 1) // found: timers, setTimeout
    return 1
  }),
  timer_promise: block('timer_promise', () => Promise.race([never(), later(1, 'x')])), // found: timers, node:timers/promises setTimeout
  promisified: block('promisified', () => {
    promisify(setTimeout)(1) // found: timers, setTimeout
    return 1
  }),
  abort_timeout: block('abort_timeout', () => AbortSignal.timeout(1000).aborted), // found: timers, AbortSignal.timeout
  fetch: block('fetch', async () => {
    try {
      return (await fetch('http://127.0.0.1:9/')).status // found: network, fetch
    } catch {
      return 0
    }
  }),
  http: block('http', () => {
    get('http://127.0.0.1:9/') // found: network, node:http get
  }),
  socket: block('socket', () => {
    try {
      connect(9, '127.0.0.1') // found: network, node:net connect
    } catch {}
    return 1
  }),
  kept_socket: block('kept_socket', () => {
    try {
      kept.connect(9, '127.0.0.1') // found: network, node:net Socket.connect
    } catch {}
    return 1
  }),
  dns: block('dns', () => {
    try {
      lookup('localhost', () => undefined) // found: network, node:dns lookup
    } catch {}
    return 1
  }),
  read_file: block('read_file', () => readFileSync('/etc/hosts', 'utf8').length > 0), // found: files, node:fs readFileSync
  file_exists: block('file_exists', () => existsSync('/nowhere')), // found: files, node:fs existsSync
  file_promise: block('file_promise', () => {
    promises.stat('/').catch(() => undefined) // found: files, node:fs/promises stat
    return 1
  }),
  write_file: block('write_file', () => {
    try {
      writeFileSync('planted.txt', 'x') // found: files, node:fs writeFileSync
    } catch {}
    return 1
  }),
  environment: block('environment', () => env['LANG'] === 'x'), // found: environment, process.env.LANG
  environment_listed: block('environment_listed', () => Object.keys(process.env).length > 1e6), // found: environment, process.env
  arguments: block('arguments', () => process.argv.length), // found: environment, process.argv
  directory: block('directory', () => resolve('x')), // found: environment, process.cwd
  process_id: block('process_id', () => process.pid), // found: environment, process.pid
  memory: block('memory', () => process.memoryUsage().rss > 0), // found: environment, process.memoryUsage
  host: block('host', () => hostname()), // found: environment, node:os hostname
  platform: block('platform', () => process.platform), // found: environment, process.platform
  time_zone: block('time_zone', () => new Date(0).getHours()), // found: environment, Date.getHours
  language: block('language', () => 'i'.toLocaleUpperCase()), // found: environment, String.toLocaleUpperCase
  compared: block('compared', () => ['ä', 'z'].sort((a, b) => a.localeCompare(b))), // found: environment, String.localeCompare
  default_zone: block('default_zone', () => Intl.DateTimeFormat().resolvedOptions().timeZone), // found: environment, Intl.DateTimeFormat
  child: block('child', () => {
    try {
      spawnSync('true') // found: process, node:child_process spawnSync
    } catch {}
    return 1
  }),
  promisified_child: block('promisified_child', () => {
    promisify(exec)('true').catch(() => undefined) // found: process, node:child_process exec
  }),
  exit: block('exit', () => process.exit(3)), // found: process, process.exit
  worker: block('worker', () => {
    try {
      new Worker('1', { eval: true }) // found: threads, node:worker_threads Worker
    } catch {}
    return 1
  }),
  other_realm: block('other_realm', () => runInNewContext('Date.now()') > 0), // found: process, node:vm runInNewContext
  threads: block('threads', () => {
    gzip('x', () => undefined) // found: threads, node:zlib gzip
    return createHash('sha256').update('x').digest('hex')
  }),
  digest: block('digest', () => {
    globalThis.crypto.subtle.digest('SHA-256', new Uint8Array()) // found: threads, crypto.subtle.digest
    return 1
  }),
  counter: block('counter', () => {
    count += 1
    return count
  }),
  memo: block('memo', (_ctx, { a }) => {
    const known = seen.has(a)
    seen.set(a, true)
    return known
  }),
  hidden: block('hidden', () => hidden.next()), // found: module state, something kept outside ctx
  debugger: block('debugger', () => {
    new Session().connect() // found: process, permission Inspector
  }),
  key_order: block('key_order', (_ctx, input) => Object.keys(input).join()), // found: order of keys, order of keys
  weak: block('weak', () => new WeakRef({}).deref() !== undefined), // found: collection, WeakRef
  registry: block('registry', () => {
    new FinalizationRegistry(() => undefined).register({}, 1) // found: collection, FinalizationRegistry
    return 1
  }),
  stack: block('stack', () => {
    const error = new Error('here')
    return String(error.stack).length > 0 // found: stack, Error.stack
  })
}
