import { readFileSync } from 'node:fs'
import { twoOfThree } from './approvers.mjs'
import {
  agentFlow,
  block,
  bridgeInputs,
  bundled,
  chained,
  documents,
  runningOut,
  single,
  transfers
} from './documents.mjs'
import { answer, driven, parked, until } from './drive.mjs'

/**
 * The golden ledgers: how each is made. A scene gets `open(options)`, which opens its ledger, and
 * `die()`, which ends the process as a power cut does; `world` is what its effects see.
 *
 * `broken`: what an untouched copy fails with under the code that made it.
 */
const ais = (name) => readFileSync(new URL(`../ais/${name}.yaml`, import.meta.url), 'utf8')
const protocols = () => ['erc20', 'aave', 'some-bridge', 'jlp'].map(ais)

/** What the world of a scene is, also when its ledger is opened again. */
export function worldOf({ workflow, isObliged = false }) {
  if (workflow === undefined) return {}
  return { protocols: protocols(), asks: workflow === 'asks', isObliged }
}

const approver = { publicKey: 'a'.repeat(64), isApprover: true }

async function ends(tally, names, { decide } = {}) {
  for (const name of names) await driven(tally.begin(documents[name], { id: name }), { decide })
}

/** Starts a document whose effect never answers, and dies when it has been sent. */
async function killed({ open, die, world }, name, isIt, start) {
  let isSent = false
  world.hangs = (call) => {
    if (!isIt(call)) return false
    isSent = true
    return true
  }
  const tally = await open()
  start ??= () => tally.begin(documents[name], { id: name })
  start(tally).result.catch(() => undefined)
  await until(() => isSent)
  // What led to it is on disk before it is sent; a read is sent ahead.
  await tally.note()
  die()
}

/** Documents whose policies name approvers. */
const signedTwice = {
  bundle: bundled,
  flow: agentFlow('signed', 'call send', ['send'], {}, { approvers: twoOfThree })
}

const requested = (member) => (call) => Object.hasOwn(Object(call.request), member)

/** Parks a run and closes, so that it has a checkpoint; or dies in place of that. */
async function leftOpen({ open, die }, name, { dies = false, start, before } = {}) {
  const tally = await open()
  await before?.(tally)
  const run = start?.(tally) ?? tally.begin(documents[name], { id: name })
  await parked(run)
  await tally.note()
  if (dies) die()
  await tally.close()
}

/** A turn that is asked again as each version asks, then one that waits before its tool acts. */
function correctedAgent(scene) {
  const properties = { sum: { type: 'integer' } }
  const outputSchema = { type: 'object', properties, required: ['sum'] }
  const flow = agentFlow('corrected', 'call send, answer as a sum', ['send'], { outputSchema })
  return leftOpen(scene, 'corrected', {
    start: (tally) => tally.begin(flow, { id: 'corrected' })
  })
}

async function acrossChains(scene) {
  const tally = await scene.open()
  await driven(tally.begin(ais('bridge'), { id: 'bridge', inputs: bridgeInputs }))
  await driven(tally.begin(transfers, { id: 'transfers' }))
  await tally.close()
}

/** Leaves a workflow parked by a node that failed after money had moved. */
const failedNode = (scene) =>
  leftOpen(scene, 'running-out', {
    start: (tally) => tally.begin(runningOut, { id: 'running-out' })
  })

const finished = {
  composites: {
    title: 'composites: loop, confirmations, waits, sleeps, retries, repair, fallback, nesting',
    async make(scene) {
      const tally = await scene.open()
      await ends(tally, ['loop', 'waits', 'retries', 'decided', 'nested'])
      await tally.close()
    }
  },
  atomics: {
    title: 'atomic composites: nested, compensated, decided about, with deferred steps',
    async make(scene) {
      const tally = await scene.open()
      await ends(tally, ['atomic', 'undone', 'undone-and-decided', 'deferred'])
      await tally.close()
    }
  },
  plans: {
    title: 'plans: lanes, failures let pass, waits, an atomic plan in declared order',
    async make(scene) {
      const tally = await scene.open()
      await ends(tally, ['plan', 'plan-in-order'])
      await tally.close()
    }
  },
  workflows: {
    title: 'AIS workflows across two chains, on the fake executor',
    workflow: 'free',
    make: acrossChains
  },
  'workflows-wallets': {
    title: 'AIS workflows by the second rules: a wallet for each chain',
    workflow: 'free',
    make: acrossChains
  },
  'workflows-measured': {
    title: 'AIS workflows by the third rules: preflight, measured calls, the CEL of AIS',
    workflow: 'free',
    make: acrossChains
  },
  agents: {
    title: 'flows of agents, with tools that read and that ask before they act',
    async make(scene) {
      const tally = await scene.open()
      const flows = [
        agentFlow('plain', 'say hello', []),
        agentFlow('reading', 'call look', ['look']),
        agentFlow('acting', 'call send', ['send'])
      ]
      for (const flow of flows) {
        const inputs = { userPrompt: 'please' }
        await driven(tally.begin(flow, { id: flow.meta.name, inputs }))
      }
      await tally.close()
    }
  },
  intents: {
    title: 'lone intents of blocks and of packages, permissions, grants, a graph of intents',
    packages: ['counter', 'breaker'],
    async make(scene) {
      const tally = await scene.open()
      await tally.intent({ id: 'block', action: 'count.up', payload: {} })
      await tally.intent({ id: 'failed', action: 'boom.now', payload: {} })
      await tally.intent({ id: 'nobody', action: 'nobody.serves', payload: { a: 1 } })
      const asked = await tally.intent({ id: 'asked', action: 'tally.up', payload: { by: 2 } })
      if (asked.type !== 'permission_request') throw new Error(JSON.stringify(asked))
      const denied = await tally.intent({ id: 'denied', action: 'tally.up', payload: {} })
      const run = await tally.attach('denied')
      await run.deny(denied.token, { digest: denied.digest })
      await tally.result('denied')
      const grant = (name, capabilities) =>
        tally.intent({ action: 'system.grant', payload: { package: name, capabilities } })
      await grant('counter', ['storage.read', 'storage.write'])
      await grant('breaker', ['storage.read'])
      await tally.result('asked')
      await tally.intent({ id: 'broken', action: 'break.it', payload: {} })
      const step = { action: 'tally.up', args: { by: 3 } }
      const graph = {
        schema: 'tally-graph/1',
        name: 'graph',
        steps: [
          { id: 'one', ...step },
          { id: 'two', ...step, depends_on: ['one'] }
        ]
      }
      await driven(tally.begin(graph, { id: 'graph' }))
      await driven(tally.begin({ ...graph, atomic: true }, { id: 'atomic-graph' }))
      await tally.close()
    }
  },
  system: {
    title: 'system intents: keys rotated and revoked, grants, preferences, packages, identities',
    packages: ['counter', 'breaker'],
    async make(scene) {
      const tally = await scene.open()
      const ask = async (action, payload = {}) => {
        const reply = await tally.intent({ action, payload })
        if (reply.type !== 'dapp') throw new Error(JSON.stringify(reply))
        return reply
      }
      await ask('system.approver', approver)
      await ask('system.grant', { package: 'counter', capabilities: ['storage.read'] })
      const { replaced } = await ask('system.key.rotate')
      await ask('system.revoke', { package: 'counter', capabilities: ['storage.read'] })
      await ask('system.prefer', { subject: 'tally', provider: 'counter' })
      await ask('system.prefer', { subject: 'tally', provider: null })
      await ask('system.identity.create', { label: 'payroll' })
      await ask('package.uninstall', { id: 'breaker' })
      await ask('system.key.rotate')
      await ask('system.key.revoke', { publicKey: replaced })
      await ask('system.approver', { ...approver, isApprover: false })
      await driven(tally.begin(documents['plan-in-order'], { id: 'after' }))
      await tally.close()
    }
  },
  evidence: {
    title: 'evidence: failed, denied, aborted and cancelled work, a refused system intent',
    async make(scene) {
      const tally = await scene.open()
      await ends(tally, ['failing'])
      const deny = { decide: () => ({ action: 'deny' }) }
      await driven(tally.begin(single('pay', { confirm: true }), { id: 'denied' }), deny)
      const abort = { decide: () => ({ action: 'abort' }) }
      const asking = single('boom', { on_error: 'ask' })
      await driven(tally.begin(asking, { id: 'aborted' }), abort)
      const cancel = { decide: () => ({ action: 'cancel' }) }
      await driven(tally.begin(documents.nested, { id: 'cancelled' }), cancel)
      await driven(tally.begin(documents.undone, { id: 'undone' }), cancel)
      await tally.intent({ action: 'system.grant', payload: { package: 'none', capabilities: [] } })
      await tally.close()
    }
  },
  approvals: {
    title: 'answers that approvers have signed, a denial, and signed answers that need none',
    async make(scene) {
      const tally = await scene.open()
      await ends(tally, ['approved'])
      const signed = (action) => ({ decide: () => ({ action, isSigned: true }) })
      await driven(tally.begin(documents.approved, { id: 'denied' }), signed('deny'))
      await driven(tally.begin(single('pay', { confirm: true }), { id: 'signed' }), signed('approve'))
      const asking = single('boom', { on_error: 'ask' })
      await driven(tally.begin(asking, { id: 'skipped' }), signed('skip'))
      await tally.close()
    }
  },
  policies: {
    title: 'a pack and a tool policy with approvers, obligations with others: approved and denied',
    workflow: 'asks',
    isObliged: true,
    async make(scene) {
      const tally = await scene.open()
      const denies = (threshold) => ({
        decide: ({ approvers }) => ({
          action: approvers.threshold === threshold ? 'deny' : 'approve'
        })
      })
      for (const [name, document] of Object.entries(signedTwice)) {
        await driven(tally.begin(document, { id: name }))
        await driven(tally.begin(document, { id: `${name}-denied` }), denies(2))
        await driven(tally.begin(document, { id: `${name}-denied-later` }), denies(3))
      }
      await tally.close()
    }
  },
  upgraded: {
    title: 'a ledger of earlier versions that was upgraded when it was opened',
    async make(scene) {
      const earlier = await scene.openAs({ ...scene.versions, expressions: 'cel/0' })
      await driven(earlier.begin(documents['plan-in-order'], { id: 'before' }))
      await earlier.close()
      const tally = await scene.open()
      await driven(tally.begin(documents['plan-in-order'], { id: 'after' }))
      await tally.close()
    }
  },
  members: {
    title: 'context, trace, unsafe recovery, listings in an overlay, an end without code',
    async make(scene) {
      const tally = await scene.open()
      const context = { region: 'eu', other: ['not', 'declared'] }
      const trace = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
      await driven(tally.begin(documents.located, { id: 'located', context, trace }))
      await tally.intent({ id: 'intent', action: 'count.up', payload: {}, context, trace })
      await ends(tally, ['givenUp', 'listed'])
      await parked(tally.begin(documents.waits, { id: 'gone', trace }))
      await tally.close()
      const bare = await scene.openBare()
      await (await bare.attach('gone')).cancel('its code has gone')
      await bare.close()
    }
  },
  signals: {
    title: 'signals: early and awaited ones, taken again by the attempt after one that failed',
    async make(scene) {
      const tally = await scene.open()
      await ends(tally, ['signals'])
      await tally.close()
    }
  },
  functions: {
    title: 'workflows in code: steps, order, race, atomic parts, a child, a signal, a failure',
    async make(scene) {
      const tally = await scene.open()
      const { order, charging } = scene.functions
      await driven(tally.begin(order, { item: 'a' }, { id: 'order' }))
      await driven(tally.begin(charging, { of: 'b' }, { id: 'charging' }))
      await driven(tally.begin(order, null, { id: 'without-item' }))
      await tally.close()
    }
  },
  bodies: {
    title: 'large and private payloads, results and sealed responses, kept as blobs',
    async make(scene) {
      const tally = await scene.open()
      await ends(tally, ['large'])
      await tally.close()
    }
  }
}

const openRuns = {
  'open-node-failed': {
    title: 'parked by a node that failed, by the second rules',
    workflow: 'free',
    make: failedNode
  },
  'open-node-failed-measured': {
    title: 'parked by a node that failed, by the third rules',
    workflow: 'free',
    make: failedNode
  },
  'open-policies': {
    title: 'killed between two questions: those of a policy have signed, one of an obligation',
    workflow: 'asks',
    isObliged: true,
    async make(scene) {
      const tally = await scene.open()
      const decide = ({ approvers, approvals = [] }) =>
        approvers.threshold === 2 || approvals.length === 0 ? { action: 'approve' } : undefined
      const isBetween = ({ approvers, approvals = [] }) =>
        approvers.threshold === 3 && approvals.length === 1
      for (const [name, document] of Object.entries(signedTwice)) {
        const run = tally.begin(document, { id: name })
        driven(run, { decide }).catch(() => undefined)
        await until(async () => (await run.waits()).some(isBetween))
      }
      await tally.note()
      scene.die()
    }
  },
  'open-wait': {
    title: 'parked on waits, with checkpoints; state read by others meanwhile',
    make: (scene) =>
      leftOpen(scene, 'nested', { before: (tally) => ends(tally, ['plan-in-order']) })
  },
  'open-wait-killed': {
    title: 'waiting when the process was killed: no checkpoint',
    make: (scene) => leftOpen(scene, 'waits', { dies: true })
  },
  'open-atomic': {
    title: 'parked inside an atomic composite: only the journal has its overlay',
    make: (scene) => leftOpen(scene, 'atomic')
  },
  'open-listed': {
    title: 'parked inside an atomic composite whose step has listed keys, then another was added',
    async make(scene) {
      const tally = await scene.open()
      await parked(tally.begin(documents.listed, { id: 'listed' }))
      await driven(tally.begin(single('note'), { id: 'note' }))
      await tally.note()
      await tally.close()
    }
  },
  'open-plan': {
    title: 'a plan with several waits open',
    make: (scene) => leftOpen(scene, 'plan')
  },
  'open-timer': {
    title: 'asleep for an hour, with a checkpoint',
    make: (scene) => leftOpen(scene, 'long-nap')
  },
  'open-retry-killed': {
    title: 'a retry due in an hour when the process was killed',
    make: (scene) => leftOpen(scene, 'late', { dies: true })
  },
  'open-decision': {
    title: 'a failure that somebody has to decide about',
    make: (scene) => leftOpen(scene, 'decided')
  },
  'open-given-up': {
    title: 'an unsafe retry before a fallback, which was not tried, in a failed run and an open one',
    make: (scene) =>
      leftOpen(scene, 'givenUpLater', { before: (tally) => ends(tally, ['givenUp']) })
  },
  'open-signals': {
    title: 'parked on a signal, with others that nothing has asked for yet',
    async make(scene) {
      const tally = await scene.open()
      const run = tally.begin(documents.signals, { id: 'signals' })
      await parked(run)
      for (const name of ['other', 'item']) await run.signal(name, { name }, { id: name })
      await parked(await tally.attach('signals'))
      await tally.close()
    }
  },
  'open-tags': {
    title: 'parked after its code has set tags, and before it sets others',
    async make(scene) {
      const tally = await scene.open()
      await parked(tally.begin(documents.tags, { id: 'tags' }))
      await tally.close()
    }
  },
  'open-function': {
    title: 'a workflow in code that waits for a signal, after steps of every kind',
    async make(scene) {
      const tally = await scene.open()
      await parked(tally.begin(scene.functions.order, { item: 'a' }, { id: 'order' }))
      await tally.close()
    }
  },
  'open-function-killed': {
    title: 'a workflow in code that was killed while an idempotent step was under way',
    make: (scene) =>
      killed(scene, 'charging', requested('of'), (tally) =>
        tally.begin(scene.functions.charging, { of: 'b' }, { id: 'charging' })
      )
  },
  'open-approval': {
    title: 'parked on a wait that one of two approvers has signed',
    async make(scene) {
      const tally = await scene.open()
      const run = tally.begin(documents.approved, { id: 'approved' })
      await parked(run)
      const [wait] = await run.waits()
      await answer(run, wait, { action: 'approve' })
      await parked(await tally.resume('approved'))
      await tally.close()
    }
  },
  'open-subjects': {
    title: 'runs of three subjects: of one they wait and have ended, of one they were erased, others',
    async make(scene) {
      const tally = await scene.open()
      const start = (subject, what, input) =>
        tally.begin(what, { id: `${subject}-${what.name}`, inputs: input, subject })
      const secret = chained('secrets', { a: block('secret'), b: block('secret-post') })
      const big = (length) => single('big', { input: { lit: { length } } })
      for (const [subject, length] of [['ada', 20_000], ['ben', 2_000]]) {
        for (const what of [big(length), documents.retries, secret, single('boom')]) {
          await driven(start(subject, what, { of: subject }))
        }
        const workflow = scene.functions[subject === 'ada' ? 'charging' : 'order']
        const id = `${subject}-workflow`
        await driven(tally.begin(workflow, { item: subject }, { id, subject }))
        if (subject === 'ada') await ends(tally, ['plan-in-order', 'undone'])
      }
      await tally.erase('ben')
      await driven(start('cleo', documents.atomic))
      await parked(start('ada', documents.waits))
      await parked(start('cleo', documents.nested))
      await tally.note()
      await tally.close()
    }
  },
  'open-running': {
    title: 'killed while an idempotent write was under way',
    make: (scene) => killed(scene, 'between', requested('of'))
  },
  'open-reading': {
    title: 'killed while a read was under way',
    make: (scene) => killed(scene, 'reading', requested('of'))
  },
  'open-unknown': {
    title: 'killed while a write was under way of which nobody knows what became',
    make: (scene) => killed(scene, 'unknown', requested('of'))
  },
  'open-undoing': {
    title: 'killed while an atomic composite was being undone',
    async make(scene) {
      const start = (tally) => {
        const run = tally.begin(documents.undone, { id: 'undone' })
        driven(run).catch(() => undefined)
        return run
      }
      await killed(scene, 'undone', requested('releases'), start)
    }
  },
  'open-asked-twice': {
    title: 'an unknown outcome that was asked about, parked with a checkpoint',
    async make(scene) {
      const start = (tally) => tally.begin(documents.unknown, { id: 'unknown' })
      if (scene.life === 1) return killed(scene, 'unknown', requested('of'), start)
      const tally = await scene.open()
      await parked(await tally.resume('unknown'))
      return tally.close()
    },
    lives: 2
  },
  'open-workflow': {
    title: 'an AIS workflow that waits for the confirmation of a transfer',
    workflow: 'asks',
    make: (scene) =>
      leftOpen(scene, 'transfers', { start: (tally) => tally.begin(transfers, { id: 'transfers' }) })
  },
  'open-dropped': {
    title: 'writes that were not asked for any more: of a run that failed, and of one that waits',
    async make(scene) {
      const names = ['drop-and-fail', 'drop-and-ask']
      const tally = await scene.open()
      if (scene.life === 1) {
        for (const name of names) await parked(tally.begin(single(name), { id: name }))
        return tally.close()
      }
      const changed = single('price', { input: { lit: { price: 1 } } })
      await driven(tally.begin(changed, { id: 'change' }))
      const [failing, asking] = names
      await driven(await tally.resume(failing))
      await parked(await tally.resume(asking))
      await tally.note()
      return tally.close()
    },
    lives: 2
  },
  'open-agent': {
    title: 'a flow of agents that waits before a tool acts',
    make: (scene) =>
      leftOpen(scene, 'acting', {
        start: (tally) => tally.begin(agentFlow('acting', 'call send', ['send']), { id: 'acting' })
      })
  },
  'open-agent-corrected': {
    title: 'an agent whose answer was corrected, and that waits before a tool acts',
    make: correctedAgent
  },
  'open-agent-pinned': {
    title: 'the same, in a run that has pinned agent.turn 1.0.0 as the version of then',
    make: correctedAgent
  },
  'open-intent': {
    title: 'lone intents that wait: for a permission, for a message',
    packages: ['counter'],
    async make(scene) {
      const tally = await scene.open()
      await tally.intent({ id: 'permission', action: 'tally.up', payload: { by: 2 } })
      await tally.intent({ id: 'message', action: 'ask.it', payload: {} })
      await tally.close()
    }
  },
  'open-intent-killed': {
    title: 'a lone intent that was killed while its write was under way',
    async make(scene) {
      const start = (tally) => {
        const reply = tally.intent({ id: 'post', action: 'post.it', payload: {} })
        return { result: reply }
      }
      await killed(scene, 'post', requested('of'), start)
    }
  }
}

/** Honest ledgers of 0.1.0 that 0.1.0 itself refuses. */
const refused = {
  'changed-while-parked': {
    title: 'a block that asked on a price which another run changed while it was parked',
    broken: 'journal.wait',
    async make(scene) {
      const tally = await scene.open()
      await parked(tally.begin(single('quote'), { id: 'quote' }))
      const changed = single('price', { input: { lit: { price: 1 } } })
      await driven(tally.begin(changed, { id: 'change' }))
      await driven(await tally.resume('quote'))
      // Not the last receipt: what is done again at opening is another.
      await driven(tally.begin(single('count'), { id: 'last' }))
      await tally.close()
    }
  },
  'changed-and-last': {
    title: 'the same, and its receipt is the last: the ledger opens in safe mode',
    broken: 'journal.wait',
    async make(scene) {
      const tally = await scene.open()
      const quote = chained('quotes', { n: { block: 'quote' }, ask: { block: 'ask' } })
      await parked(tally.begin(quote, { id: 'quote' }))
      const changed = single('price', { input: { lit: { price: 1 } } })
      await driven(tally.begin(changed, { id: 'change' }))
      const again = await tally.resume('quote')
      await driven(again, {
        decide: (wait) =>
          wait.path.endsWith('ask') ? undefined : { action: 'resume', value: 'ok' }
      }).catch(() => undefined)
      await tally.close()
    }
  },
  'confirmed-twice': {
    title: 'stopped before the retry of a confirmed step: the answer that it keeps stands twice',
    broken: 'journal.seq',
    lives: 2,
    async make({ open, world, life }) {
      if (life === 2) {
        const tally = await open()
        return driven(await tally.resume('confirmed')).then(() => tally.close())
      }
      let closing
      let tally
      world.looked = () => {
        closing ??= tally.close()
      }
      tally = await open()
      const run = tally.begin(documents.confirmed, { id: 'confirmed' })
      driven(run).catch(() => undefined)
      await until(() => closing !== undefined)
      await closing
    }
  },
  'evidence-member': {
    title: 'a failed intent whose payload has a member named as a field of the record',
    broken: 'evidence',
    async make(scene) {
      const tally = await scene.open()
      await tally.intent({ action: 'nobody.serves', payload: { evidenceHash: 'x', z: 1 } })
      await tally.close()
    }
  },
  'upgrade-refused': {
    title: 'a system.upgrade that was refused',
    broken: 'upgrade',
    async make(scene) {
      const tally = await scene.open()
      await driven(tally.begin(single('count'), { id: 'first' }))
      const to = { ...scene.versions, kernel: '9.9.9' }
      await tally.intent({ action: 'system.upgrade', payload: { to } })
      await driven(tally.begin(single('count'), { id: 'last' }))
      await tally.close()
    }
  }
}

export const scenes = { ...finished, ...openRuns, ...refused }
