import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Hash, isTallyError, type Json, type JsonObject } from '../../../src/core/index.js'
import { connectOwner, type OwnerClient } from '../../../src/owner/index.js'
import { type ApproverName, approvers, signed } from '../approvers.js'
import { openedConsole } from '../console/opened.js'
import { cases } from '../effort.js'
import type { Project } from '../project.js'
import { type EffectClass, lone, OWNERS_TAG, SIGNED_RUN, subjectOf, type World } from './world.js'

/** What a caller can ask on a road; what a road has no form for is absent. Replies are texts. */
export interface Caller {
  /** Each form takes a process: the first of each class stands for all but in the long form. */
  readonly isDear?: boolean
  intent?(asked: { readonly action: string; readonly payload: JsonObject }): Promise<unknown>
  run?(document: JsonObject): Promise<unknown>
  /** Starts a workflow in code by its name. */
  workflow?(name: string): Promise<unknown>
  show?(run: string): Promise<unknown>
  signal?(run: string): Promise<unknown>
  answer?(run: string, given: GivenAnswer): Promise<unknown>
  /** Destroys the key of a subject. */
  erase?(subject: string): Promise<unknown>
  close?(): Promise<unknown>
}

/** An answer to a wait, with a name that is claimed or a signature. */
export interface GivenAnswer {
  readonly token: string
  readonly digest: Hash
  readonly by?: string
  readonly approval?: { readonly key: string; readonly signature: string }
}

let names = 0
export const nextId = () => {
  names += 1
  return `asked-${names}`
}

/** A process for each: what stops them is the same for each form. */
const formsOfDearCallers = { usual: 1, long: 2, soak: Number.POSITIVE_INFINITY }

/** Tries every form in which a caller could ask for a class; returns all that it got. */
export async function ask(world: World, kind: EffectClass, caller: Caller, ownersRun: string) {
  const told: string[] = []
  const forms = await formsOf(world, kind, caller, ownersRun)
  const taken = caller.isDear === true ? cases(formsOfDearCallers) : forms.length
  for (const form of forms.slice(0, taken)) {
    told.push(await form().then(textOf, textOf))
  }
  return told.join('\n')
}

function textOf(reply: unknown): string {
  if (isTallyError(reply)) return `${reply.code}: ${reply.message}`
  return reply instanceof Error ? reply.message : (JSON.stringify(reply) ?? 'nothing')
}

async function formsOf(world: World, kind: EffectClass, caller: Caller, ownersRun: string) {
  const { intent, run, workflow, show, signal, answer, erase } = caller
  const asIntents = (asked: readonly { action: string; payload: JsonObject }[]) =>
    asked.flatMap((one) => [
      ...(intent === undefined ? [] : [() => intent(one)]),
      ...(run === undefined
        ? []
        : ['intent', 'intent.none'].map((block) => () => run(lone(block, one as JsonObject))))
    ])
  const does = (name: string) => [
    ...asIntents([{ action: name, payload: {} }]),
    ...(run === undefined ? [] : [() => run(lone(name)), () => run(lone(`walk.${name}`))]),
    ...(workflow === undefined ? [] : [() => workflow(`walk.${name}`)])
  ]
  const grantee = { principal: { kind: 'agent', id: 'accomplice' }, subject: 'act' }
  switch (kind) {
    case 'read': {
      const path = join(world.folder, `${nextId()}.snapshot`)
      return [
        ...(show === undefined ? [] : [() => show(ownersRun)]),
        ...(intent === undefined
          ? []
          : [
              () => intent({ action: 'system.replay', payload: { receipt: 0 } }),
              () => intent({ action: 'system.export', payload: { path } })
            ])
      ]
    }
    case 'write':
      return does('act')
    case 'money':
      return does('pay')
    case 'key':
      return asIntents([
        { action: 'system.identity.create', payload: { label: nextId() } },
        { action: 'system.key.rotate', payload: {} },
        { action: 'system.key.revoke', payload: { publicKey: world.tally.identity } }
      ])
    case 'answer': {
      const [wait] = await (await world.tally.attach(ownersRun)).waits()
      if (wait === undefined || answer === undefined) return []
      return [() => answer(ownersRun, { token: wait.token, digest: wait.digest })]
    }
    case 'signal':
      return [
        ...(signal === undefined ? [] : [() => signal(ownersRun)]),
        ...asIntents([
          { action: 'system.signal', payload: { run: ownersRun, name: 'word', value: 1 } }
        ])
      ]
    case 'signed': {
      const [wait] = await (await world.tally.attach(SIGNED_RUN)).waits()
      if (wait === undefined) return []
      const eve = { publicKey: approvers.eve.key, isApprover: true }
      const given: readonly Pick<GivenAnswer, 'by' | 'approval'>[] = [
        {},
        { by: approvers.ada.key },
        { approval: signed(wait, 'eve') },
        { approval: signed(wait, 'ada', { action: 'deny' }) },
        { approval: signed(wait, 'ada') },
        { approval: signed(wait, 'ada') }
      ]
      const { token, digest } = wait
      return [
        ...(answer === undefined
          ? []
          : given.map((one) => () => answer(SIGNED_RUN, { token, digest, ...one }))),
        // Grants, which the owner may, and no signature.
        ...asIntents([{ action: 'system.approver', payload: eve }])
      ]
    }
    case 'grant':
      return asIntents([
        { action: 'system.grant', payload: grantee },
        { action: 'system.grant', payload: { package: 'thief', capabilities: ['bridge.mint'] } },
        { action: 'system.publish', payload: { document: lone('act'), name: nextId() } },
        { action: 'system.prefer', payload: { subject: 'act', provider: 'thief' } },
        { action: 'system.schedule', payload: { name: nextId(), spec: yearly } }
      ])
    case 'erase': {
      const subject = subjectOf(ownersRun)
      return [
        ...(erase === undefined ? [] : [() => erase(subject)]),
        ...asIntents([{ action: 'system.erase', payload: { subject } }])
      ]
    }
  }
}

/** What begins a run in the owner's name, though never in the time of a test. */
const yearly: JsonObject = {
  cron: '0 0 1 1 *',
  timeZone: 'UTC',
  overlap: 'skip',
  catchUp: 'none',
  workflow: 'walk.act',
  input: null
}

export function programCaller({ tally, workflows }: World): Caller {
  return {
    intent: (asked) => tally.intent(asked),
    run: (document) => tally.begin(document, { id: nextId() }).result,
    show: async (run) => {
      const entries: unknown[] = [tally.run(run)]
      for await (const entry of tally.journal(run)) entries.push(entry)
      return [...entries, await tally.query(run, 'word')]
    },
    workflow: async (name) => {
      const workflow = workflows.find((one) => one.name === name)
      return workflow === undefined ? undefined : tally.begin(workflow, null).result
    },
    signal: (run) => tally.signal(run, 'word', 1),
    answer: async (id, { token, ...given }) => (await tally.attach(id)).approve(token, given),
    erase: (subject) => tally.erase(subject)
  }
}

/** The owner's documents: what they do is done in their owner's name. */
export function documentCaller({ tally }: World): Caller {
  return { run: (document) => tally.begin(document, { id: nextId() }).result }
}

export async function socketCaller(world: World, agent?: string): Promise<Caller> {
  const owner = await connectOwner(world.location)
  if (owner === undefined) throw new Error('the ledger is not served')
  const by = agent === undefined ? {} : { agent }
  const request = (method: string, params: JsonObject) => owner.request(method, params)
  return {
    intent: (asked) => request('intent', { ...asked, ...by, id: nextId() }),
    run: (document) => streamed(owner, 'run', { ...documentParams(document), ...by }),
    workflow: async (name) => {
      const forms = [{ workflow: name }, { published: name }, { workflow: `${name}@1` }]
      return [
        ...(await all(forms, (what) => streamed(owner, 'run', { ...what, id: nextId(), ...by }))),
        ...(await all(forms, (what) => request('start', { ...what, id: nextId(), ...by })))
      ]
    },
    signal: (id) => request('signal', { id, name: 'word', value: 1, ...by }),
    show: async (id) => [
      // Each by itself: what is refused keeps no other from being tried.
      ...(await all(agent === undefined ? [{}] : [{}, { answers: false }], (answers) =>
        request('show', { id, ...by, ...answers })
      )),
      // An agent gets no recording: the method takes no name of one. Others neither, or show less.
      ...(await all(agent === undefined ? [] : readings(id), ([method, params]) =>
        request(method, { ...params, ...by })
      )),
      ...(await all(agent === undefined ? ['recording'] : streams, (method) =>
        streamed(owner, method, { ...(method === 'feed' ? {} : { id }), ...by })
      ))
    ],
    answer: (id, wait) => request('message', { id, action: 'approve', ...wait, ...by }),
    close: async () => owner.close()
  }
}

/** Methods that read, with what they need. */
const readings = (id: string): readonly (readonly [string, JsonObject])[] => [
  ['find', { text: id }],
  ['find', { tag: OWNERS_TAG }],
  ['find', { waiting: true }],
  ['waits', {}],
  ['waits', { runId: id }],
  ['published', { id, key: 'word' }],
  ['stateValue', { key: 'wallet/balance' }],
  ['stateValues', { prefix: '' }],
  ['queues', {}],
  ['schedules', {}],
  ['exceptions', { id }],
  ['resumable', {}],
  ['stateHistory', { key: 'wallet/balance' }],
  ['locate', { text: id }],
  ['calls', { id }],
  ['signals', { id }],
  ['chart', { id }],
  ['state', { prefix: '' }],
  ['log', {}],
  ['replay', { index: 0 }]
]
const streams = ['recording', 'journal', 'events', 'follow', 'feed'] as const

/** What each of some forms gave, or failed with. */
export async function all<Form>(forms: readonly Form[], ask: (form: Form) => Promise<unknown>) {
  const told: unknown[] = []
  for (const form of forms) told.push(await ask(form).catch(textOf))
  return told
}

export const documentParams = (document: JsonObject): JsonObject => ({
  document: JSON.stringify(document),
  id: nextId()
})

export async function streamed(owner: OwnerClient, method: string, params: JsonObject) {
  const events: Json[] = []
  for await (const event of owner.stream(method, params)) {
    events.push(event)
    if (String((event as JsonObject)['type']) === 'run.parked') break
  }
  return events
}

/** The command line; as another user of the machine where a number is given. */
export function commandLineCaller(world: World, project: Project, uid?: number): Caller {
  const at = ['--dir', world.location, '--json']
  const tally = async (...words: readonly string[]) => {
    const ended = await project.tally([...words, ...at], uid === undefined ? {} : { uid })
    return `${ended.stdout}\n${ended.stderr}`
  }
  return {
    isDear: uid !== undefined,
    intent: ({ action, payload }) => tally('intent', action, '--payload', JSON.stringify(payload)),
    run: async (document) => {
      const name = `${nextId()}.json`
      await writeFile(project.path(name), JSON.stringify(document))
      return tally('run', name)
    },
    workflow: (name) => tally('run', '--workflow', name, '--inputs', 'null'),
    signal: (run) => tally('signal', run, 'word', '--value', '1'),
    show: async (run) => [
      await tally('show', run, '--journal'),
      await tally('test', 'from', run, '--private', '--force', '--out', `${run}.test.mjs`)
    ],
    answer: (run, { by = 'owner' }) => tally('approve', run, '--by', by),
    erase: (subject) => tally('erase', subject)
  }
}

/** Files that come back from approvers, and that the owner submits unread. */
export function signatureCaller(
  world: World,
  project: Project,
  signers: readonly ApproverName[]
): Caller {
  const submitted = async (runId: string, wait: GivenAnswer, by: ApproverName) => {
    const said = { digest: wait.digest, token: wait.token, action: 'approve', value: null }
    const approval = { ...said, ...signed(wait, by) }
    const name = `${nextId()}.json`
    const file = { approval, format: 'tally-approval/2', runId }
    await writeFile(project.path(name), JSON.stringify(file))
    await project.tally(['approval', 'submit', name, '--dir', world.location])
  }
  return {
    isDear: true,
    answer: async (runId, wait) => {
      for (const by of signers) await submitted(runId, wait, by)
    }
  }
}

/** A page of the console; `stranger` is a page of another origin, in the same browser. */
export async function consoleCaller(
  world: World,
  project: Project,
  {
    isReadOnly,
    isStranger = false
  }: { readonly isReadOnly: boolean; readonly isStranger?: boolean }
): Promise<Caller> {
  const switches = isReadOnly ? ['--read-only'] : []
  const words = ['inspect', '--dir', world.location, ...switches]
  const { browser, command } = await openedConsole(project, words)
  // What a browser adds to the requests of such a page; the cookie it would not even send.
  const headers = isStranger
    ? { origin: 'http://attacker.example', 'sec-fetch-site': 'cross-site' }
    : {}
  const asked = async (method: string, params: JsonObject) => {
    const { status, text } = await browser.post(`/api/${method}`, JSON.stringify(params), headers)
    return `${status} ${text}`
  }
  return {
    intent: (intent) => asked('intent', { ...intent, id: nextId() }),
    run: (document) => asked('run', documentParams(document)),
    workflow: (name) => asked('start', { workflow: name, id: nextId() }),
    signal: (id) => asked('signal', { id, name: 'word', value: 1 }),
    show: async (id) => [
      await asked('show', { id }),
      ...(await all(readings(id), ([method, params]) => asked(method, params))),
      ...(await all(['recording', 'journal'], (method) => asked(method, { id }))),
      // Of who may read it, it has no end.
      ...(isStranger ? [await browser.get('/api/feed', headers)] : [])
    ],
    answer: (id, wait) => asked('message', { id, action: 'approve', ...wait }),
    close: async () => {
      command.child.kill('SIGINT')
      await command.ended
    }
  }
}
