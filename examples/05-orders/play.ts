import { createRuntime } from 'tallystick'
import { connect } from 'tallystick/client'
import { openBank, pause } from './bank.js'
import { bankAt } from './bank-client.js'
import { APPROVED_FROM_CENTS, blocksOf } from './blocks.js'
import { Operator } from './operator.js'

export interface Play {
  /** Directory of the ledger. */
  readonly location: string
  readonly orders: number
  readonly kills: number
  readonly deploys: number
  /** Random numbers in [0, 1), which say when the service is killed. */
  random(): number
}

export interface Outcome {
  readonly accepted: number
  readonly kills: number
  readonly releases: number
  readonly declined: number
  /** Orders that were accepted and are not there, or have not ended. */
  readonly lost: readonly string[]
  /** Orders that were charged otherwise than once; those that were declined, at all. */
  readonly wronglyCharged: readonly string[]
  readonly verified: { readonly ok: boolean; readonly line: string }
}

const CUSTOMERS = 12
/** What happens to one order, roughly: accepted, charged, told. */
const STEPS_OF_ORDER = 3

/** Has customers order while the service is killed and deployed, and says what came of it. */
export async function play(given: Play): Promise<Outcome> {
  const steps = new Steps()
  const bank = await openBank(async (event) => {
    const { status } = await operator.request('POST', '/webhooks/bank', event)
    if (status === 200) steps.done()
    return status === 200
  })
  const operator = new Operator({ location: given.location, bank: bank.address })
  await operator.start()
  const disturbances = steps.plan(given, operator)
  const accepted: string[] = []
  const open = Array.from({ length: given.orders }, (_, at) => at)
  let isOver = false
  const customer = async () => {
    for (let at = open.shift(); at !== undefined; at = open.shift()) {
      const id = `order-${at}`
      const { status } = await operator.request('PUT', `/orders/${id}`, orderOf(at))
      if (status !== 202) throw new Error(`${id} was answered with ${status}`)
      accepted.push(id)
      steps.done()
    }
  }
  const approving = approve(operator, steps, () => isOver)
  await Promise.all(Array.from({ length: CUSTOMERS }, customer))
  const ends = await endsOf(given.location, accepted)
  isOver = true
  await approving
  steps.doRest()
  await disturbances
  await operator.stop()
  await bank.close()
  const verified = await verifiedOf(given.location, operator.release, bank.address)
  return {
    accepted: accepted.length,
    kills: given.kills,
    releases: operator.release + 1,
    declined: [...ends.values()].filter((end) => end === 'declined').length,
    lost: accepted.filter((id) => ends.get(id) === undefined),
    wronglyCharged: wronglyCharged(ends, bank.charges),
    verified
  }
}

/** Every tenth order is large, and of those every fourth is declined. */
function orderOf(at: number): object {
  return { item: `lamp ${at}`, cents: at % 10 === 0 ? APPROVED_FROM_CENTS + at : 1_000 + at }
}

async function approve(operator: Operator, steps: Steps, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const response = await operator.request('GET', '/approvals')
    const asked = (await response.json()) as readonly {
      id: string
      token: string
      digest: string
    }[]
    for (const { id, token, digest } of asked) {
      const at = Number(id.slice('order-'.length))
      const answer = { token, digest, approve: at % 40 !== 0 }
      await operator.request('POST', `/approvals/${id}`, answer)
      steps.done()
    }
    await pause(20)
  }
}

/** How the orders ended, as another process of the same user learns it. */
async function endsOf(location: string, ids: readonly string[]) {
  const ends = new Map<string, 'shipped' | 'declined'>()
  await using ledger = await connect({ location })
  for (const id of ids) {
    const { status, response } = await ledger.result(id)
    if (status !== 'done') continue
    ends.set(id, 'declined' in Object(response.data) ? 'declined' : 'shipped')
  }
  return ends
}

function wronglyCharged(ends: ReadonlyMap<string, string>, charges: readonly string[]) {
  const times = new Map<string, number>()
  for (const id of charges) times.set(id, (times.get(id) ?? 0) + 1)
  const wrong = [...ends].filter(
    ([id, end]) => (times.get(id) ?? 0) !== (end === 'declined' ? 0 : 1)
  )
  const unknown = [...times.keys()].filter((id) => !ends.has(id))
  return [...wrong.map(([id]) => id), ...unknown]
}

async function verifiedOf(location: string, release: number, bank: string) {
  await using tally = await createRuntime({
    location,
    blocks: blocksOf(release),
    providers: [bankAt(bank)],
    resume: false,
    serve: false
  })
  const { ok, line } = await tally.verify()
  return { ok, line }
}

/** Counts what has happened, and disturbs the service at the counts that were drawn. */
class Steps {
  #count = 0
  #planned: { readonly at: number; begin(): void }[] = []

  done(): void {
    this.#count += 1
    while (this.#planned[0] !== undefined && this.#planned[0].at <= this.#count) {
      this.#planned.shift()?.begin()
    }
  }

  /** Does what was planned for later than anything happened. */
  doRest(): void {
    for (const { begin } of this.#planned.splice(0)) begin()
  }

  plan({ orders, kills, deploys, random }: Play, operator: Operator): Promise<unknown> {
    const all = orders * STEPS_OF_ORDER
    const killsAt = Array.from({ length: kills }, () => Math.floor(random() * all))
    const deploysAt = Array.from({ length: deploys }, (_, at) =>
      Math.floor(((at + 1) * all) / (deploys + 1))
    )
    const planned = [
      ...killsAt.map((at) => ({ at, act: () => operator.kill() })),
      ...deploysAt.map((at) => ({ at, act: () => operator.deploy() }))
    ].sort((one, other) => one.at - other.at)
    return Promise.all(
      planned.map(
        ({ at, act }) =>
          new Promise<void>((resolve, reject) => {
            const begin = () => {
              act().then(resolve, reject)
            }
            this.#planned.push({ at, begin })
          })
      )
    )
  }
}
