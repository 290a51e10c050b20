import { describe, expect, it } from 'vitest'
import { type TransportDriver, transportConformance } from '../../src/testing/index.js'
import { failingChecks, neverFailed, type WrongDriver } from '../support/failing-checks.js'
import { type PlainFaults, plainDriver } from '../support/transports-under-test.js'

/** A plain client with these faults, whose exchanges are changed after they ended. */
function plain(
  faults: PlainFaults,
  change: (exchange: Exchange) => Exchange = (exchange) => exchange
) {
  return (): TransportDriver => {
    const driver = plainDriver(faults)
    return {
      ...driver,
      open: async (port) => {
        const transport = await driver.open(port)
        return { exchange: change((text, options) => transport.exchange(text, options)) }
      }
    }
  }
}

type Exchange = Awaited<ReturnType<TransportDriver['open']>>['exchange']

const wrong: readonly WrongDriver<TransportDriver>[] = [
  {
    fault: 'sends a request again when it has no answer',
    driver: plain({ tries: 2 }),
    fails: ['sends nothing again']
  },
  {
    fault: 'says that nothing was begun whenever it has no answer',
    driver: plain({ ofFailure: () => ({ kind: 'not_begun' }) }),
    fails: [
      'does not know',
      'takes no part of an answer for the answer, where the connection breaks',
      'takes no part of an answer for the answer, where it ends early',
      'takes nothing for an answer',
      'lets go of an answer that has no end',
      'lets go of a silent server',
      'lets go of an answer that stops'
    ]
  },
  {
    fault: 'knows of no failure that nothing was begun',
    driver: plain({ ofFailure: () => ({ kind: 'unknown' }) }),
    fails: ['says that nothing was begun']
  },
  {
    fault: 'takes a failure for an empty answer',
    driver: plain({ ofFailure: () => ({ kind: 'answered', text: '' }) }),
    fails: [
      'says that nothing was begun',
      'claims nothing',
      'does not know',
      'takes no part of an answer for the answer, where the connection breaks',
      'takes no part of an answer for the answer, where it ends early',
      'takes nothing for an answer',
      'lets go of an answer that has no end',
      'lets go of a silent server',
      'lets go of an answer that stops',
      'follows no server'
    ]
  },
  {
    fault: 'takes what there is of an answer',
    driver: plain({ takesParts: true }),
    // A reset may take away what has come before it was read.
    mayFail: ['takes no part of an answer for the answer, where the connection breaks'],
    fails: ['takes no part of an answer for the answer, where it ends early']
  },
  {
    fault: 'reads each part of an answer by itself',
    driver: plain({ decodesParts: true }),
    fails: ['puts an answer together']
  },
  {
    fault: 'reads an answer without an end',
    driver: plain({ bytesMax: Number.POSITIVE_INFINITY }),
    fails: ['late: lets go of an answer that has no end']
  },
  {
    fault: 'follows redirects',
    driver: plain({ followsRedirects: true }),
    fails: ['follows no server']
  },
  {
    fault: 'takes a redirect for an answer',
    driver: plain({ takesAnyStatus: true }),
    fails: ['follows no server']
  },
  {
    fault: 'sends what was called off before',
    driver: plain({ sendsCalledOff: true }),
    fails: ['sends nothing that was called off']
  },
  {
    fault: 'waits for a server when it is called off',
    driver: plain({ ignoresSignal: true }),
    fails: ['late: lets go of a silent server', 'late: lets go of an answer that stops']
  },
  {
    fault: 'lets its caller go, and not the server',
    driver: plain({ ignoresSignal: true }, (exchange) => async (text, { signal }) => {
      if (signal.aborted) return { kind: 'not_begun' }
      const calledOff = new Promise<{ readonly kind: 'unknown' }>((resolve) => {
        signal.addEventListener('abort', () => resolve({ kind: 'unknown' }))
      })
      return Promise.race([exchange(text, { signal }), calledOff])
    }),
    fails: ['late: lets go of a silent server', 'late: lets go of an answer that stops']
  },
  {
    fault: 'gives each exchange the answer of the first that is under way',
    driver: plain({}, (exchange) => {
      let underWay: ReturnType<Exchange> | undefined
      return (text, options) => {
        underWay ??= exchange(text, options).finally(() => {
          underWay = undefined
        })
        return underWay
      }
    }),
    fails: ['gives each of many']
  },
  {
    fault: 'stays broken once a connection broke',
    driver: plain({}, (exchange) => {
      let isBroken = false
      return async (text, options) => {
        if (isBroken) return { kind: 'unknown' }
        const exchanged = await exchange(text, options)
        isBroken = exchanged.kind === 'unknown'
        return exchanged
      }
    }),
    fails: ['sends nothing again', 'is answered again']
  },
  {
    fault: 'sends texts as Latin-1',
    driver: plain({}, (exchange) => (text, options) => {
      return exchange(Buffer.from(text, 'latin1').toString('latin1'), options)
    }),
    fails: ['carries texts', 'puts an answer together']
  },
  {
    fault: 'asks the server before it is asked',
    driver: plain({}, (exchange) => {
      let isReady = false
      return async (text, options) => {
        if (!isReady && !options.signal.aborted) await exchange('hello', options)
        isReady = true
        return exchange(text, options)
      }
    }),
    fails: [
      'gives the answer',
      'carries texts',
      'sends nothing again',
      'lets go of a silent server',
      'lets go of an answer that stops'
    ]
  }
]

describe('a transport is found wrong that', () => {
  it.each(wrong)('$fault', async ({ driver, fails, mayFail = [] }) => {
    const failing = await failingChecks(transportConformance, driver, fails)
    expect(failing.filter((name) => !mayFail.includes(name))).toEqual(fails)
  })
})

it('each check of the suite for transports fails for a wrong transport', () => {
  expect(neverFailed(transportConformance, wrong)).toEqual([])
})
