import { createRequire, syncBuiltinESMExports } from 'node:module'
import { guard, guardedRecord, guardProperty } from './guards.js'
import { watchedModules, watchedProcess } from './module-table.js'
import { type Api, outsideBlock } from './watch.js'
import { replaceClock } from './world-clock.js'
import { guardLocales } from './world-locale.js'

/** Replaces everything that is watched; before any code of a block is loaded. */
export function replaceBuiltins(): void {
  guardObjects()
  guardModules()
  guardProcess()
  guardGlobals()
  replaceClock()
  guardLocales()
  quietConsole()
  syncBuiltinESMExports()
}

const viaEffect = 'ctx.effect(name, { request, perform })'
const require = createRequire(import.meta.url)

function guardModules(): void {
  for (const { module, kind, instead, names, except, refused } of watchedModules) {
    const exported: object = require(`node:${module}`)
    const functions = Object.keys(exported).filter(
      (name) => typeof Reflect.get(exported, name) === 'function'
    )
    for (const name of names ?? functions) {
      if (except?.test(name)) continue
      const isRefused = refused?.test(name) ?? false
      guard(exported, name, { kind, name: `node:${module} ${name}`, instead, isRefused })
    }
  }
}

/** What objects can do that a module has made while it was loaded. */
function guardObjects(): void {
  const network = { kind: 'network', instead: viaEffect, isRefused: true } as const
  const methods: readonly (readonly [module: string, of: string, names: readonly string[]])[] = [
    ['net', 'Socket', ['connect']],
    ['net', 'Server', ['listen']],
    ['dgram', 'Socket', ['bind', 'connect', 'send']],
    ['dns', 'Resolver', ['resolve', 'resolve4', 'resolve6', 'reverse']]
  ]
  for (const [module, of, names] of methods) {
    const { prototype } = Reflect.get(require(`node:${module}`), of)
    for (const name of names) {
      guard(prototype, name, { ...network, name: `node:${module} ${of}.${name}` })
    }
  }
}

function guardProcess(): void {
  for (const { kind, instead, names, isRefused = false } of watchedProcess) {
    for (const name of names) {
      const isThroughNode = name === 'cwd'
      const api: Api = { kind, name: `process.${name}`, instead, isRefused, isThroughNode }
      if (typeof Reflect.get(process, name) === 'function') guardDeep(process, name, api)
      else guardProperty(process, name, api)
    }
  }
  const apiOf = (name: string | undefined): Api => ({
    kind: 'environment',
    name: name === undefined ? 'process.env' : `process.env.${name}`,
    instead: 'the input of the block, or ctx.context'
  })
  const { env } = process
  Object.defineProperty(process, 'env', {
    configurable: true,
    enumerable: true,
    writable: true,
    value: guardedRecord(env, apiOf)
  })
}

/** A function and those that it has as members, as `hrtime.bigint`. */
function guardDeep(object: object, name: string, api: Api): void {
  const original: object = Reflect.get(object, name)
  for (const member of Object.keys(original)) {
    guard(original, member, { ...api, name: `${api.name}.${member}` })
  }
  guard(object, name, api)
}

function guardGlobals(): void {
  const own = (name: string, api: Omit<Api, 'name'>) => guard(globalThis, name, { ...api, name })
  const network = { kind: 'network', instead: viaEffect, isRefused: true } as const
  for (const name of ['fetch', 'WebSocket', 'EventSource']) own(name, network)
  const timers = { kind: 'timers', instead: 'ctx.sleep(ms)' } as const
  for (const name of timerNames) own(name, timers)
  guard(AbortSignal, 'timeout', { ...timers, name: 'AbortSignal.timeout' })
  const { scheduler }: { scheduler: object } = require('node:timers/promises')
  for (const name of ['wait', 'yield']) {
    guard(scheduler, name, { ...timers, name: `node:timers/promises scheduler.${name}` })
  }
  for (const name of ['wait', 'waitAsync']) {
    guard(Atomics, name, { ...timers, name: `Atomics.${name}` })
  }
  const collection = { kind: 'collection', instead: 'a plain reference, a Map or a Set' } as const
  for (const name of ['WeakRef', 'FinalizationRegistry']) own(name, collection)
  guard(WeakRef.prototype, 'deref', { ...collection, name: 'WeakRef.deref' })
  const threads = { kind: 'threads', instead: viaEffect } as const
  for (const name of ['MessageChannel', 'BroadcastChannel']) own(name, threads)
  const webAssembly: object = Reflect.get(globalThis, 'WebAssembly')
  for (const name of ['compile', 'instantiate']) {
    guard(webAssembly, name, { ...threads, name: `WebAssembly.${name}` })
  }
  const random = 'ctx.random() or ctx.uuid(); for secrets, ctx.effect'
  for (const name of chanceNames) {
    guard(globalThis.crypto, name, { kind: 'chance', name: `crypto.${name}`, instead: random })
  }
  const subtle: object = globalThis.crypto.subtle
  for (const name of Object.getOwnPropertyNames(Reflect.getPrototypeOf(subtle))) {
    if (name === 'constructor') continue
    const instead = 'createHash and its like of node:crypto, or ctx.effect'
    guard(subtle, name, { kind: 'threads', name: `crypto.subtle.${name}`, instead })
  }
}

const timerNames = ['Timeout', 'Interval', 'Immediate'].map((name) => `set${name}`)
const chanceNames = ['getRandom' + 'Values', 'random' + 'UUID']

/** What the console uses itself, colours of a terminal for one, is not the code's. */
function quietConsole(): void {
  for (const name of Object.keys(console)) {
    const original: unknown = Reflect.get(console, name)
    if (typeof original !== 'function') continue
    const quiet = (...given: readonly unknown[]) =>
      outsideBlock(() => Reflect.apply(original, console, given))
    Reflect.set(console, name, quiet)
  }
}
