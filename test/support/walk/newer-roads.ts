import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from '../../../src/client/index.js'
import type { JsonObject } from '../../../src/core/index.js'
import { connectOwner } from '../../../src/owner/index.js'
import type { FollowedEntry } from '../../../src/runtime/index.js'
import { approve, balance, skeleton, transfer, flow as workflow } from '../ais-flows.js'
import { builtModule } from '../built.js'
import type { Project } from '../project.js'
import { all, ask, type Caller, nextId, programCaller, socketCaller } from './callers.js'
import type { Try } from './viewers.js'
import { AGENT, type EffectClass, OWNERS_WORD, type World } from './world.js'

/** Roads that came after the tables of principals: other processes, by name, as a stream. */

/** Another process of the owner's, through `tallystick/client`. */
export async function clientCaller(world: World): Promise<Caller> {
  const client = await connect({ location: world.location })
  const ended = async ({ id }: { readonly id: string }) => {
    const { status, waits } = await client.run(id)
    return waits.length > 0 ? status : client.result(id)
  }
  return {
    intent: (asked) => client.intent({ ...asked, id: nextId() }),
    run: async (document) => ended(await client.start(document, { id: nextId() })),
    workflow: async (name) => ended(await client.startWorkflow(name, { id: nextId() })),
    show: async (id) => [await client.run(id), await client.queries.find({ text: id })],
    answer: (id, { token, digest, ...given }) =>
      client.answer(id, token, { digest: digest, action: 'approve', ...given }),
    signal: (id) => client.signal(id, 'word', 1),
    erase: (subject) => client.erase(subject),
    close: () => client.close()
  }
}

/** The same as another user of the machine, who knows where the ledger lies. */
export function otherUsersClient(world: World, project: Project, uid: number): Caller {
  const asked = async (method: string, ...given: readonly unknown[]) => {
    const name = `${nextId()}.mjs`
    const text = `
      import { connect } from ${JSON.stringify(builtModule('client/index.js'))}
      try {
        const location = ${JSON.stringify(world.location)}
        const tally = await connect({ location, waitMs: 100 })
        console.log(JSON.stringify(await tally.${method}(...${JSON.stringify(given)})))
      } catch (error) {
        console.log(error.code, error.message)
      }
      process.exit(0)`
    await writeFile(project.path(name), text)
    const stdio = ['ignore', 'pipe', 'inherit'] as const
    const child = spawn(process.execPath, [project.path(name)], {
      uid,
      gid: uid,
      stdio: [...stdio]
    })
    const said = (await child.stdout.setEncoding('utf8').toArray()).join('')
    if (said.trim() === '') throw new Error('the client of another user says nothing')
    return said
  }
  return {
    isDear: true,
    intent: (one) => asked('intent', one),
    run: (document) => asked('start', document),
    workflow: (name) => asked('startWorkflow', name),
    show: (id) => asked('run', id),
    answer: (id, { token, digest }) => asked('answer', id, token, { digest, action: 'approve' }),
    signal: (id) => asked('signal', id, 'word', 1),
    erase: (subject) => asked('erase', subject)
  }
}

/** The next process of the owner's, which has got the ledger from the one before. */
export function nextProcessRoad(world: World): Try {
  const attempt = async (kind: EffectClass, ownersRun: string) => {
    await world.handOver()
    return ask(world, kind, programCaller(world), ownersRun)
  }
  return { attempt }
}

/** An agent in whose name a process asks for the ledger, with all that it might send along. */
export async function agentsHandOverRoad(world: World): Promise<Try> {
  const owner = await connectOwner(world.location)
  if (owner === undefined) throw new Error('the ledger is not served')
  const attempt = async (kind: EffectClass, ownersRun: string) => {
    const forms: readonly JsonObject[] = [
      { agent: AGENT },
      { agent: AGENT, action: `system.${kind}`, id: ownersRun },
      { agent: AGENT, document: kind, handOver: true }
    ]
    return JSON.stringify(await all(forms, (params) => owner.request('handOver', params)))
  }
  return { attempt, close: async () => owner.close() }
}

/** Workflows in code by their names, and nothing else. */
export async function workflowCaller(world: World, agent?: string): Promise<Caller> {
  const { workflow: started, close } = await socketCaller(world, agent)
  if (started === undefined || close === undefined) throw new Error('the socket starts workflows')
  const named = (document: JsonObject): Promise<unknown> => started(String(document['name']))
  // Whatever is asked for is asked for by name.
  return { workflow: started, run: named, close }
}

/** Documents of AIS alone: what they read, and what they send. */
export function aisRoad({ run, close }: Caller): Try {
  if (run === undefined) throw new Error('the road runs documents')
  // A failure ends it: otherwise it would wait for its owner.
  const ends: JsonObject = { on_error: 'stop' }
  const never: JsonObject = { ...ends, condition: { lit: false } }
  const nodes: Readonly<Record<EffectClass, readonly JsonObject[]>> = {
    read: [balance('one', ends)],
    write: [approve('one', ends)],
    money: [transfer('one', ends)],
    key: [transfer('one', never)],
    answer: [balance('one', never)],
    signal: [],
    signed: [],
    grant: [],
    erase: []
  }
  const attempt = async (kind: EffectClass) => {
    const document = workflow(nodes[kind])
    const forms = [
      document,
      skeleton(nodes[kind]),
      { schema: 'ais-bundle/1', flow: document },
      { schema: 'ais-bundle/1', flow: document, writes: 'broadcast', yes: true }
    ]
    return JSON.stringify(await all(nodes[kind].length === 0 ? [] : forms, run))
  }
  return { attempt, close: async () => close?.() }
}

/** The journal of a run in another process, and in an agent's name. */
export async function followRoad(world: World, agent?: string): Promise<Try> {
  const owner = await connectOwner(world.location)
  if (owner === undefined) throw new Error('the ledger is not served')
  const by = agent === undefined ? {} : { agent }
  const attempt = async (kind: EffectClass, id: string) => {
    const forms: readonly JsonObject[] = [
      { id },
      { id, after: '0.0' },
      { id, action: `system.${kind}`, document: kind }
    ]
    const heard = (params: JsonObject) => until(owner.stream('follow', { ...params, ...by }))
    return JSON.stringify(await all(kind === 'read' ? forms : forms.slice(2), heard))
  }
  return { attempt, close: async () => owner.close() }
}

/** What a stream gives until it has given the owner's word: the run does not end. */
async function until(events: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const heard: unknown[] = []
  for await (const event of events) {
    heard.push(event)
    if (JSON.stringify(event).includes(OWNERS_WORD)) break
  }
  return heard
}

/** A page of the program's, made as docs/following.md says, and a reader that it lets in. */
export async function followedPageRoad(world: World): Promise<Try> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const after = request.headers['last-event-id']?.toString()
    const id = (request.url ?? '').slice('/orders/'.length)
    const given = { signal: gone.signal, ...(after === undefined ? {} : { after }) }
    try {
      for await (const { place, entry } of world.tally.follow(id, given)) {
        response.write(lineOf({ place, entry }))
      }
    } catch (error) {
      response.write(`event: problem\ndata: ${String(error)}\n\n`)
    }
    response.end()
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const said = async (path: string, init: RequestInit) => {
    const leave = new AbortController()
    const { body } = await fetch(`http://127.0.0.1:${port}${path}`, {
      ...init,
      signal: leave.signal
    })
    const heard = body === null ? [] : await until(body.pipeThrough(new TextDecoderStream()))
    leave.abort()
    return heard
  }
  const attempt = async (kind: EffectClass, ownersRun: string) => {
    if (kind === 'read') return JSON.stringify(await said(`/orders/${ownersRun}`, {}))
    const forms: readonly (readonly [string, RequestInit])[] = [
      [`/orders/none-of-${kind}`, {}],
      ['/orders/../../keys/', { headers: { 'last-event-id': '../../keys' } }],
      [`/orders/none`, { method: 'POST', body: JSON.stringify({ action: `system.${kind}` }) }]
    ]
    return JSON.stringify(await all(forms, ([path, init]) => said(path, init)))
  }
  const close = async () => {
    server.close()
    server.closeAllConnections()
  }
  return { attempt, close }
}

const lineOf = ({ place, entry }: FollowedEntry) =>
  `id: ${place}\nevent: ${entry.k}\ndata: ${JSON.stringify(entry)}\n\n`
