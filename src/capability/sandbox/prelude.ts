/**
 * The first code of every guest: it takes what it needs from the language before anything of the
 * package runs, and builds the scoped API. It is part of the ABI; its hash is a committed vector.
 *
 * It is no security boundary: a guest that breaks it breaks itself. What is denied, counted or kept
 * is decided behind `host(operation, name, text)`, outside the guest.
 *
 * Evaluates to a function of `host` that returns `{ start, settle }`. Values cross as JSON text
 * only. An answer of the host is empty for nothing, or "=" and JSON text, or "!" and why not.
 */
export const preludeText = `
((host) => {
  'use strict'
  const { parse, stringify } = JSON
  const { create, defineProperty, freeze, getPrototypeOf, isFrozen } = Object
  const { isArray } = Array
  const { ownKeys } = Reflect
  const PromiseOf = Promise
  const ErrorOf = Error
  const text = String
  const slice = Function.prototype.call.bind(String.prototype.slice)
  const indexOf = Function.prototype.call.bind(String.prototype.indexOf)
  const isWellFormed = Function.prototype.call.bind(String.prototype.isWellFormed)
  const split = Function.prototype.call.bind(String.prototype.split)
  const objectPrototype = Object.prototype
  const arrayPrototype = Array.prototype
  const hexDigits = '0123456789abcdef'
  const waiting = create(null)
  let isStarted = false
  let x = 0
  let y = 0
  let z = 0
  let w = 0

  for (const name of ['SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry']) {
    delete globalThis[name]
  }

  function fault(name, message) {
    const error = new ErrorOf(message)
    defineProperty(error, 'name', { value: name, configurable: true, writable: true })
    return error
  }

  function uint32() {
    if (!isStarted) throw fault('NotAvailable', 'no random numbers while a package loads')
    const t = x ^ (x << 11)
    x = y
    y = z
    z = w
    w = (w ^ (w >>> 19) ^ t ^ (t >>> 8)) >>> 0
    return w
  }

  function random() {
    const high = uint32() >>> 5
    const low = uint32() >>> 6
    return (high * 67108864 + low) / 9007199254740992
  }

  function uuid() {
    let digits = ''
    for (let word = 0; word < 4; word += 1) {
      const bits = uint32()
      for (let shift = 28; shift >= 0; shift -= 4) {
        let nibble = (bits >>> shift) & 15
        if (word === 1 && shift === 12) nibble = 4
        if (word === 2 && shift === 28) nibble = (nibble & 3) | 8
        digits += hexDigits[nibble]
      }
    }
    return slice(digits, 0, 8) + '-' + slice(digits, 8, 12) + '-' + slice(digits, 12, 16) +
      '-' + slice(digits, 16, 20) + '-' + slice(digits, 20)
  }

  defineProperty(Math, 'random', { value: random, configurable: true, writable: true })

  function plain(key, value) {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value
      case 'number':
        if (value - value !== 0) throw fault('NotJson', 'a number is not finite')
        return value
      case 'undefined':
        if (isArray(this)) throw fault('NotJson', 'an array holds undefined')
        return value
      case 'object': {
        if (value === null) return value
        const prototype = getPrototypeOf(value)
        if (prototype !== objectPrototype && prototype !== arrayPrototype && prototype !== null) {
          throw fault('NotJson', 'an object is not plain')
        }
        return value
      }
      default:
        throw fault('NotJson', 'a value is a ' + typeof value)
    }
  }

  function toText(value) {
    return value === undefined ? 'null' : stringify(value, plain)
  }

  function frozen(value) {
    if (typeof value !== 'object' || value === null || isFrozen(value)) return value
    freeze(value)
    const keys = ownKeys(value)
    for (let index = 0; index < keys.length; index += 1) frozen(value[keys[index]])
    return value
  }

  function ask(operation, name, argument) {
    const answer = host(operation, name, argument)
    if (answer === '') return undefined
    const body = slice(answer, 1)
    if (answer[0] === '!') throw fault('CapabilityDenied', body)
    return parse(body)
  }

  // Strings cross as UTF-8 that ends at NUL: two keys must not become one on the way.
  function keyOf(value) {
    const key = text(value)
    if (indexOf(key, '\\0') !== -1 || !isWellFormed(key)) {
      throw fault('InvalidKey', 'a key holds NUL or a lone surrogate')
    }
    return key
  }

  const storage = {
    __proto__: null,
    'storage.read': {
      get: (key) => ask('read', keyOf(key), ''),
      has: (key) => ask('read', keyOf(key), '') !== undefined
    },
    'storage.write': {
      set: (key, value) => {
        if (value === undefined) throw fault('NotJson', 'the value is undefined')
        ask('write', keyOf(key), toText(value))
      },
      delete: (key) => ask('delete', keyOf(key), '')
    }
  }

  function effect(name) {
    return (request) => {
      const seq = ask('effect', name, toText(request))
      return new PromiseOf((resolve, reject) => {
        waiting[seq] = { __proto__: null, resolve, reject }
      })
    }
  }

  function apiOf(now, declared) {
    const api = { __proto__: null, now: () => now, random, uuid }
    for (let index = 0; index < declared.length; index += 1) {
      const name = declared[index]
      const parts = split(name, '.')
      let place = api
      for (let part = 0; part < parts.length - 1; part += 1) {
        place = place[parts[part]] ??= create(null)
      }
      const methods = storage[name]
      if (methods === undefined) place[parts[parts.length - 1]] = effect(name)
      else for (const method in methods) place[method] = methods[method]
    }
    return frozen(api)
  }

  function described(error) {
    try {
      if (typeof error !== 'object' || error === null) {
        return { name: 'Error', message: text(error) }
      }
      const { name, message } = error
      return { name: text(name), message: text(message) }
    } catch {
      return { name: 'Error', message: 'the error cannot be described' }
    }
  }

  async function go(run, inputText, apiObject) {
    let result
    try {
      result = await run(frozen(parse(inputText)), apiObject)
    } catch (error) {
      tell('thrown', error)
      return
    }
    try {
      host('done', '', toText(result))
    } catch (error) {
      tell('unfit', error)
    }
  }

  function tell(ending, error) {
    const { name, message } = described(error)
    host(ending, slice(name, 0, 100), slice(message, 0, 1000))
  }

  function start(run, inputText, declaredText, now, ...words) {
    x = words[0]
    y = words[1]
    z = words[2]
    w = words[3]
    isStarted = true
    go(run, inputText, apiOf(now, parse(declaredText)))
  }

  function settle(seq, isDone, body) {
    const { resolve, reject } = waiting[seq]
    delete waiting[seq]
    if (isDone) {
      resolve(parse(body))
      return
    }
    const { reason, details } = parse(body)
    const error = fault('EffectFailure', reason)
    error.reason = reason
    error.details = details
    reject(error)
  }

  return { __proto__: null, start, settle }
})
`
