import { createWebSocketReceiver } from '@statelyai/inspect'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import type { InspectionMessage } from '../../src/inspect/index.js'
import { Project, type Started } from '../support/project.js'

/** `tally inspect --stately`, seen by the official receiver of Stately. */

let project: Project
const started: Started[] = []

beforeAll(async () => {
  project = await Project.withRun()
})
afterEach(async () => {
  for (const { child, ended } of started.splice(0)) {
    child.kill('SIGINT')
    await ended
  }
})
afterAll(() => project.remove())

interface Inspected {
  readonly server: Started
  readonly url: string
}

async function inspected(words: readonly string[] = []): Promise<Inspected> {
  const server = project.start(['inspect', ...words, '--stately'])
  started.push(server)
  await server.says('ws://')
  return { server, url: /ws:\/\/\S+/.exec(server.said())?.[0] ?? 'none' }
}

/** What a receiver of Stately gets, until it has what it waits for. */
async function receivedFrom(
  { server, url }: Inspected,
  isEnough: (all: readonly InspectionMessage[]) => boolean
) {
  const received: InspectionMessage[] = []
  createWebSocketReceiver({ server: url }).subscribe((one) => received.push(one as never))
  const said = () => (isEnough(received) ? 'enough' : server.said())
  await expect.poll(said, { timeout: 60_000 }).toBe('enough')
  return received
}

const endOf = (run: string) => (all: readonly InspectionMessage[]) =>
  all.some(
    (one) =>
      one.type === '@xstate.snapshot' &&
      one.rootId === `${run}/root` &&
      one.snapshot.status === 'done'
  )

/** Status with which a connection is refused. */
function refusal(url: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, { headers })
    socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode))
    socket.on('open', () => resolve(undefined))
    // It may be cut off before it knows that it was let in.
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(undefined))
  })
}

describe('tally inspect --stately', () => {
  it('shows the runs of a ledger that nothing holds to each viewer from the start', async () => {
    const shown = await inspected()
    const both = await Promise.all([1, 2].map(() => receivedFrom(shown, endOf('first'))))
    const [one = [], other = []] = both
    expect(one[0]).toMatchObject({ type: '@xstate.actor', sessionId: 'first/root' })
    expect(JSON.stringify(one)).toBe(JSON.stringify(other))
    expect(one.some(({ sessionId }) => sessionId.startsWith('first/root/'))).toBe(true)
  })

  it('continues with what a service does that holds the ledger', async () => {
    const owner = project.start(['run', 'ask.yaml', '--id', 'second', '--wait', '--json'])
    started.push(owner)
    await owner.says('run.parked')
    const seen = receivedFrom(await inspected(['second']), endOf('second'))
    const answered = await project.tally(['resume', 'second', '--value', '42'])
    expect(answered.code).toBe(0)
    const messages = await seen
    expect(new Set(messages.map(({ rootId }) => rootId))).toEqual(new Set(['second/root']))
  })

  it('refuses a viewer that does not have the address, or comes by another name', async () => {
    const { url } = await inspected()
    expect(await refusal(url)).toBeUndefined()
    expect(await refusal(new URL('/elsewhere', url).href)).toBe(401)
    expect(await refusal(url, { host: 'attacker.example' })).toBe(401)
  })

  it('says that a run is not there, and ends by Ctrl-C', async () => {
    const { server, url } = await inspected(['nothing'])
    await refusal(url)
    await server.says('nothing')
    server.child.kill('SIGINT')
    expect((await server.ended).code).toBe(130)
  })
})
