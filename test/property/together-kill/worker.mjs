/**
 * A process that does what its seed says with everything at once: workflows in code, signals,
 * queues, schedules, archives, erasing, children, cancels and several identities. What it was told
 * is done stands in a file outside; so does each effect. It dies behind a line of that file, by its
 * number; without one it brings all to an end, and says what it finds.
 */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'

const { library, folder, seed, life, killedAt } = JSON.parse(process.argv[2])
const module = await import(library)
const { defineBlock, defineWorkflow, openLocation } = module

let state = (seed * 2_654_435_761 + life * 40_503 + 1) >>> 0
function chance(below) {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}
/** Far more than a life has. */
const STEPS_MAX = 10_000
let said = 0
function say(...words) {
  appendFileSync(join(folder, 'witness'), `${words.join(' ')}\n`)
  said += 1
  if (said === killedAt) process.kill(process.pid, 'SIGKILL')
}
const act =
  (name) =>
  (_input, { key }) => {
    say('did', name, key)
    return { name }
  }
const idempotent = { sideEffects: 'idempotent' }

const put = defineBlock({
  name: 'put',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx, { key }) => {
    const value = (ctx.state.get(key) ?? 0) + 1
    ctx.state.set(key, value)
    return value
  }
})
const tick = defineWorkflow({
  name: 'tick',
  version: '1.0.0',
  blocks: [put],
  async run(ctx, input) {
    return ctx.step('put', put, { key: `ticks/${input?.of ?? 'schedule'}` })
  }
})
async function order(ctx, { n, who }) {
  await ctx.setTags([`third:${n % 3}`])
  await ctx.step('charge', act('charge'), { n, who }, { ...idempotent, queue: { name: 'bank' } })
  const paid = await ctx.signal('paid')
  await ctx.publish('stage', 'paid')
  const both = await ctx.all([
    ctx.step('pack', act('pack'), { n, who }, idempotent),
    ctx.step('count', put, { key: 'orders' })
  ])
  await ctx.atomic('book', async (scope) => {
    await scope.step('from', put, { key: 'from' })
    await scope.step('to', put, { key: 'to' })
  })
  if (n % 4 === 1) await ctx.child(tick, { of: n }, { id: `child-${n}-${ctx.runId ?? ''}` })
  await ctx.sleep(5)
  await ctx.step('tell', act('tell'), { n, who }, { sideEffects: 'non_idempotent' })
  return { paid, both: both.length }
}

const orders = [0, 1, 2].map((patch) =>
  defineWorkflow({ name: 'order', version: `1.0.${patch}`, blocks: [put], run: order })
)
const location = await openLocation({
  location: join(folder, 'ledger'),
  create: 'if-absent',
  insecurePlaintextKey: true,
  blocks: [put],
  workflows: [tick, ...orders],
  queues: {
    bank: { concurrency: 2, rate: { limit: 50, per: '1s' } },
    desk: { concurrency: 4, partitionConcurrency: 1 }
  }
})
say('opened', life)
const names = ['', 'acme']
const tallies = []
for (const name of names) {
  tallies.push(await location.identity(name === '' ? undefined : name, { create: 'if-absent' }))
}
for (const tally of tallies) tally.events?.on?.('error', () => undefined)

const outcomes = (error) => say('refused', error.code ?? error.message)
async function step(number) {
  const at = chance(names.length)
  const tally = tallies[at]
  const who = names[at] || 'main'
  const n = chance(12)
  const id = `order-${n}`
  switch (chance(12)) {
    case 0:
    case 1:
    case 2: {
      const subject = n % 3 === 0 ? { subject: `subject-${n % 6}` } : {}
      const queue = n % 2 === 0 ? { queue: { name: 'desk', partition: `p${n % 3}` } } : {}
      const { isNew } = await tally.start(
        orders[life % 3],
        { n, who },
        { id, ...subject, ...queue }
      )
      return say('started', who, id, isNew)
    }
    case 3:
    case 4:
    case 5: {
      const sent = `${life}-${number}`
      const { accepted, reason } = await tally.signal(id, 'paid', { sent }, { id: sent })
      return say(accepted ? 'signalled' : 'unsignalled', who, id, accepted ? sent : reason)
    }
    case 6: {
      if (chance(3) > 0) return
      const run = await tally.attach(id)
      await run.cancel('chance')
      return say('cancelled', who, id)
    }
    case 7:
      if (chance(3) > 0) return
      await tally.schedule({ name: 'tick', every: '1s', workflow: tick, overlap: 'allow' })
      return say('scheduled', who)
    case 8: {
      if (chance(2) > 0) return
      const path = join(folder, `${who}-${life}-${number}.archive`)
      await tally.archive({ path, before: Date.now() + 1_000 })
      return say('archived', who, path)
    }
    case 9: {
      if (chance(3) > 0) return
      const subject = `subject-${chance(2) * 3}`
      await tally.erase(subject)
      return say('erased', who, subject)
    }
    case 10: {
      const { items } = await tally.runs({ tag: `third:${n % 3}`, limit: 50 })
      for (const line of items) {
        const number = Number(line.id.split('-')[1])
        if (number % 3 !== n % 3) say('WRONG', 'tag', line.id)
      }
      return
    }
    default:
      await new Promise((resolve) => setTimeout(resolve, chance(30)))
  }
}

if (killedAt !== null) {
  for (let number = 0; number < STEPS_MAX; number += 1) {
    const work = step(number).catch(outcomes)
    if (chance(3) > 0) await work
  }
  throw new Error('it has lived through all of its steps')
}

/** Answers and signals until nothing is open but schedules. */
async function finished(tally, who) {
  for (const { name } of (await tally.queries.schedules({})).schedules) {
    await tally.intent({ action: 'system.schedule.remove', payload: { name } }).catch(outcomes)
  }
  for (let turn = 0; turn < 400; turn += 1) {
    const { items } = await tally.runs({ limit: 200 })
    const open = items.filter(({ status }) => status === 'running' || status === 'waiting')
    if (open.length === 0) return items
    for (const { id } of open) {
      if (id.startsWith('order')) {
        await tally.signal(id, 'paid', { sent: 'last' }, { id: 'last' }).catch(outcomes)
      }
      const run = await tally.attach(id)
      for (const { token, digest, actions, request } of await run.waits()) {
        if (!actions.includes('abort')) continue
        say('doubt', who, id, JSON.stringify(request?.unknown_outcome ?? null))
        await run.resume(token, { digest, action: 'abort' }).catch(outcomes)
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { items } = await tally.runs({ limit: 200 })
  throw new Error(
    `never ended: ${JSON.stringify(items.filter(({ status }) => status === 'running' || status === 'waiting'))}`
  )
}

const found = {}
for (const [at, tally] of tallies.entries()) {
  const who = names[at] || 'main'
  const runs = await finished(tally, who)
  const lines = {}
  for (const { id, status } of runs) {
    let data = null
    try {
      const run = await tally.attach(id)
      const { response } = await run.result
      data = response.success ? response.data : { reason: response.reason }
    } catch (error) {
      data = { problem: error.code }
    }
    lines[id] = { status, data }
  }
  const history = tally.status().archived ?? null
  const { ok, complete, failure, notChecked } = await tally.verify()
  const doctor = (await tally.queries.doctor({})).checks ?? []
  found[who] = {
    lines,
    history,
    ok,
    complete,
    failure,
    notChecked,
    doctor,
    mode: tally.status().mode
  }
}
await location.close()
console.log(JSON.stringify(found))
process.exit(0)
