import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importSnapshot } from '../src/ledger/index.js'
import { createRuntime } from '../src/runtime/index.js'
import { balance, flow as workflow } from './support/ais-flows.js'
import { isTaken } from './support/effort.js'
import { agentOf, flowOf, nodeOf } from './support/flows.js'
import { Project } from './support/project.js'
import { readPage } from './support/snippets.js'
import {
  ask,
  commandLineCaller,
  consoleCaller,
  documentCaller,
  programCaller,
  signatureCaller,
  socketCaller
} from './support/walk/callers.js'
import { mcpCaller } from './support/walk/mcp-callers.js'
import { followRows, processRows, workflowRows } from './support/walk/newer-rows.js'
import { recordingRoad, type Try, viewerRoad } from './support/walk/viewers.js'
import { OTHER_USER, stages, through, type Walked } from './support/walk/walked.js'
import {
  AGENT,
  DEMAND,
  type EffectClass,
  effectClasses,
  lone,
  OWNERS_WORD,
  registrationsOf,
  World
} from './support/walk/world.js'

/**
 * SECURITY.md, walked: every road x every principal x every class of effect is tried in every form
 * that the road has, and what is then seen from outside is compared with the table of the page.
 */

let project: Project
beforeAll(async () => {
  project = await Project.create()
  await chmod(project.folder, 0o755)
})
afterAll(() => project.remove())

const toolOf: Readonly<Record<EffectClass, string>> = {
  read: 'ledger.read',
  write: 'act',
  money: 'pay',
  key: 'system.key.rotate',
  answer: 'system.approve',
  signal: 'system.signal',
  signed: 'system.approver',
  grant: 'system.grant',
  erase: 'system.erase'
}

/** A turn of a model whose flow lists the tools that there are, or none of them. */
function turn(isListed: boolean) {
  const allowedCapabilities = isListed ? ['act', 'pay'] : ['other']
  const agent = agentOf('main', { toolPolicy: { allowedCapabilities } })
  const nodes = [
    nodeOf('ask', 'agent.main', { agentId: 'main' }),
    nodeOf('finish', 'control.finish')
  ]
  return flowOf({ agents: [agent], nodes, edges: ['ask -> finish'] })
}

const roads: readonly Walked[] = [
  {
    road: 'program',
    principal: 'owner',
    open: async (world) => through(programCaller(world), world)
  },
  {
    road: 'command line',
    principal: 'owner',
    open: async (world) => through(commandLineCaller(world, project), world)
  },
  {
    road: 'command line',
    principal: 'other user of the machine',
    open: async (world) => through(commandLineCaller(world, project, OTHER_USER), world)
  },
  {
    road: 'owner socket',
    principal: 'owner',
    open: async (world) => through(await socketCaller(world), world)
  },
  {
    road: 'owner socket',
    principal: 'agent',
    stages,
    open: async (world) => through(await socketCaller(world, AGENT), world)
  },
  ...processRows(() => project),
  ...(
    [
      ['owner', { isReadOnly: false }],
      ['owner, where it was started with --read-only', { isReadOnly: true }],
      ['page of another origin', { isReadOnly: false, isStranger: true }]
    ] as const
  ).map(
    ([principal, options]): Walked => ({
      road: 'console',
      principal,
      open: async (world) => through(await consoleCaller(world, project, options), world)
    })
  ),
  {
    road: 'MCP, standard streams',
    principal: 'agent',
    stages,
    needsOther: (stage) => stage === 'switch',
    open: async (world, stage) => {
      const options = { over: 'stdio', switches: stage === 'switch' } as const
      return through(await mcpCaller(world, project, options), world)
    }
  },
  {
    road: 'MCP, HTTP',
    principal: 'agent',
    stages,
    needsOther: (stage) => stage === 'switch',
    open: async (world, stage) => {
      const options = { over: 'http', switches: stage === 'switch' } as const
      return through(await mcpCaller(world, project, options), world)
    }
  },
  {
    road: 'MCP, HTTP',
    principal: 'client without the token',
    stages: ['switch'],
    open: async (world) => {
      const options = { over: 'http', switches: true, token: 'guessed' } as const
      return through(await mcpCaller(world, project, options), world)
    }
  },
  {
    road: 'document',
    principal: 'owner',
    open: async (world) => through(documentCaller(world), world)
  },
  {
    road: 'document',
    principal: 'agent',
    stages,
    open: async (world) => {
      const { run, close } = await socketCaller(world, AGENT)
      if (run === undefined || close === undefined) throw new Error('the socket runs documents')
      return through({ run, close }, world)
    }
  },
  ...workflowRows,
  {
    road: 'package',
    principal: 'package',
    stages: ['yes', 'granted'],
    open: async ({ tally }) => ({
      attempt: async (kind) => JSON.stringify(await tally.intent({ action: `thief.${kind}` }))
    })
  },
  {
    road: 'model',
    principal: 'model in a flow of the owner',
    stages: ['yes', 'granted'],
    needsOther: (stage) => stage === 'granted',
    open: async ({ tally, tools }, stage) => ({
      attempt: async (kind) => {
        tools.called = toolOf[kind]
        const { response } = await tally.begin(turn(stage === 'granted')).result
        return JSON.stringify(response)
      }
    })
  },
  {
    road: 'chain',
    principal: 'node that answers',
    open: async ({ tally }) => ({
      attempt: async () => {
        const { response } = await tally.begin(workflow([balance('one', { on_error: 'stop' })]))
          .result
        return JSON.stringify(response)
      }
    })
  },
  ...followRows,
  {
    road: 'telemetry',
    principal: 'backend that gets it',
    open: async ({ tally, spans }) => ({
      attempt: async (_kind, ownersRun) => {
        const inputs = { word: OWNERS_WORD }
        const run = tally.begin(lone('ask'), { id: `told-${ownersRun}`, inputs })
        for await (const { type } of run) if (type === 'run.parked') break
        await run.cancel(OWNERS_WORD)
        await run.result
        await tally.intent({ action: 'not.there', payload: inputs })
        const told = spans.spans.map(({ name, attributes, events, status, links }) => {
          return { name, attributes, events, status, links }
        })
        expect(told.length).toBeGreaterThan(1)
        return JSON.stringify([told, await spans.metricsText()])
      }
    })
  },
  ...(
    [
      ['viewer that has its address', true],
      ['viewer without its address', false]
    ] as const
  ).map(
    ([principal, isInvited]): Walked => ({
      road: 'inspector',
      principal,
      open: (world) => viewerRoad(world, project, { isInvited })
    })
  ),
  {
    road: 'recording',
    principal: 'its maker',
    open: recordingRoad
  },
  {
    road: 'snapshot',
    principal: 'its maker',
    open: async (world) => {
      const maker = await World.open()
      await maker.grantAll()
      await maker.ownersRun()
      const file = join(world.folder, 'makers.snapshot')
      await maker.tally.export({ path: file })
      await maker.close()
      const { answer: _asAnyAgent, ...caller } = await socketCaller(world, AGENT)
      const attempt = async (kind: EffectClass, ownersRun: string) => {
        const location = join(world.folder, `imported-${kind}`)
        const imported = await importSnapshot(location, { file })
        const registrations = registrationsOf((effect) => world.done.push(effect))
        const opened = await createRuntime({ location, ...registrations, resume: true }).catch(
          ({ code }) => code
        )
        expect(opened).toBe('ledger.follower')
        return `${JSON.stringify(imported)}\n${await ask(world, kind, caller, ownersRun)}`
      }
      return { attempt, close: async () => caller.close?.() }
    }
  },
  ...(
    [
      ['its maker', ['eve']],
      ['one approver of two', ['ada', 'ada', 'eve']],
      ['as many approvers as a wait names', ['ada', 'ben']]
    ] as const
  ).map(
    ([principal, signers]): Walked => ({
      road: 'signature',
      principal,
      open: async (world) => through(signatureCaller(world, project, signers), world)
    })
  ),
  {
    road: 'note',
    principal: 'its maker',
    open: async (world) => {
      const other = await World.open()
      const note = await other.tally.note()
      await other.close()
      return {
        attempt: async () => {
          const notes = [note, DEMAND, note.replace(/\d+/, '9')].map((text, index) => ({
            source: `note-${index}`,
            text
          }))
          await writeFile(join(world.folder, 'note'), note)
          return JSON.stringify(await world.tally.verify({ notes }))
        }
      }
    }
  }
]

/** Only the superuser, as whom containers run tests, can play another user. */
const isSuperuser = process.getuid?.() === 0

/** What an attempt of each class brought about, and at which stage. */
async function walk(walked: Walked) {
  const { road, principal, stages: tried = ['yes'], needsOther, handOver, open } = walked
  const allowed = rowOf(road, principal) ?? {}
  const world = await World.open(handOver === undefined ? {} : { handOver })
  const words: Record<string, string> = {}
  let opened: Try | undefined
  try {
    for (const stage of tried) {
      if (stage === 'granted') await world.grantAll()
      if (opened === undefined || needsOther?.(stage) === true) {
        await opened?.close?.()
        opened = await open(world, stage)
      }
      for (const kind of effectClasses) {
        if (words[kind] !== undefined && words[kind] !== 'no') continue
        const ownersRun = await world.ownersRun()
        const before = await world.seen(ownersRun)
        const reply = await opened.attempt(kind, ownersRun)
        const after = await world.seen(ownersRun)
        const changed = effectClasses.filter((one) => before[one] !== after[one])
        const brought = new Set([...changed, ...world.givenAway(reply)])
        words[kind] = brought.delete(kind) ? stage : 'no'
        // Who may do another thing anyway may be shown it, too.
        const more = [...brought].filter((one) => allowed[one] !== 'yes')
        expect(more, `${kind}, ${stage}: ${reply}`).toEqual([])
      }
    }
  } finally {
    await opened?.close?.()
    await world.close()
  }
  return words
}

const page = readPage('SECURITY.md')
const rows = page
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter((cells) => cells.length === effectClasses.length + 4)
const heading = rows.find(([, first]) => first === 'road') ?? []
const columns = heading.slice(3, -1)
const told = rows.filter(([, first = '']) => first !== 'road' && !/^-+$/.test(first))
const rowOf = (road: string, principal: string) => {
  const cells = told.find(([, one, other]) => one === road && other === principal)
  return cells === undefined
    ? undefined
    : Object.fromEntries(columns.map((column, index) => [column, cells[index + 3]]))
}

describe('the table of SECURITY.md', () => {
  it('has a column for every class of effect and a row for every road that is walked', () => {
    expect(columns).toEqual(effectClasses)
    expect(told.map(([, road, principal]) => `${road}: ${principal}`)).toEqual(
      roads.map(({ road, principal }) => `${road}: ${principal}`)
    )
  })

  // One row in five; all of them in the long form, as .ci/run has it.
  const walked = roads.filter((_, place) => isTaken(place, 5))
  it.each(walked)('holds for $road, $principal', async (row) => {
    const { road, principal } = row
    if (principal.startsWith('other user') && !isSuperuser) return
    expect(await walk(row)).toEqual(rowOf(road, principal))
  })
})
