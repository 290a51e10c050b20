import type { Json, Provider } from 'tallystick'

/**
 * The bank, as the service reaches it over HTTP. It charges whenever it is asked, also twice under
 * one key; so a charge without an answer is looked up before anything else is done (L7).
 */
export function bankAt(address: string): Provider {
  const call = async (method: string, key: string, body?: object) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    return fetch(new URL(`/charges/${key}`, address), { method, ...sent })
  }
  return {
    name: 'bank.charge',
    async perform({ key, request, runId = '' }) {
      const response = await call('POST', key, { ...Object(request), order: runId })
      return (await response.json()) as Json
    },
    async locate({ key }) {
      const response = await call('GET', key)
      if (response.status === 200) return { found: true, result: (await response.json()) as Json }
      // It has read all that an ended process of ours has sent it before it reads this.
      return { found: false, definite: true }
    }
  }
}
