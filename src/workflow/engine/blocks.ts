import {
  type Block,
  type BlockContext,
  type BlockDefinition,
  defineBlock
} from '../../code/index.js'
import { coreError } from '../../core/index.js'
import { chainEffects } from '../../executor/index.js'
import { AIS_PROFILE } from '../../expression/index.js'
import type { CompileValues, ValuesOf } from '../value/compile.js'
import { actOnce } from './act-once.js'
import { approve, judgingOf } from './approve.js'
import { SPEND_EFFECT } from './budget.js'
import { execute } from './execute.js'
import { NodeFailure, type Occasion } from './failure.js'
import { type Asked, DETECT_EFFECT, gather, TIME_EFFECT } from './gather.js'
import { inputsBlock } from './inputs.js'
import { profileOf } from './node-spec.js'
import { outputsBlock } from './outputs.js'
import { preflightBlock } from './preflight.js'
import { nodeRefusal } from './refuse.js'
import { resultOf, skipped, tellReady } from './result.js'
import { EXECUTION_EFFECT } from './sealed-write.js'
import { type NodeInput, type NodeResult, nodeBlocks, nodeInput, readNodeInput } from './spec.js'

const version = '1.0.0'
/**
 * What actions may ask for stands in their receipts: it is another version that takes a budget, one
 * that keeps its time, one that looks behind the types of plugins, and one that seals what it
 * sends.
 */
const budgetedVersion = '1.1.0'
const timedVersion = '1.2.0'
const behindVersion = '1.3.0'
const sealedVersion = '1.4.0'

const { ready: _, call: __, ...effects } = chainEffects
const writeEffects = Object.values(effects)
const timedEffects = [DETECT_EFFECT, SPEND_EFFECT, TIME_EFFECT, ...writeEffects]
const sealedEffects = [
  DETECT_EFFECT,
  SPEND_EFFECT,
  EXECUTION_EFFECT,
  chainEffects.call,
  ...writeEffects
]

/**
 * The blocks of workflows. `values` gives what compiles expressions; it is loaded before a run's
 * definition is compiled, because a block may not wait for anything but its effects (K9).
 */
export function workflowBlocks(values: ValuesOf): readonly Block[] {
  return [
    nodeBlock(values, {
      name: nodeBlocks.query,
      version,
      sideEffects: 'none',
      capabilities: [DETECT_EFFECT, chainEffects.account, chainEffects.read],
      input: nodeInput,
      run: (ctx, input) => runNode(ctx, input, values(profileOf(input.spec)))
    }),
    actionBlock(values, version, [DETECT_EFFECT, ...writeEffects]),
    actionBlock(values, budgetedVersion, [DETECT_EFFECT, SPEND_EFFECT, ...writeEffects]),
    actionBlock(values, timedVersion, timedEffects),
    actionBlock(values, behindVersion, [...timedEffects, chainEffects.call]),
    actionBlock(values, sealedVersion, sealedEffects),
    // Definitions with this node came with the profile of AIS.
    preflightBlock(() => values(AIS_PROFILE), version),
    outputsBlock(values, version),
    inputsBlock(version)
  ]
}

function actionBlock(values: ValuesOf, version: string, capabilities: readonly string[]): Block {
  return nodeBlock(values, {
    name: nodeBlocks.action,
    version,
    // Doing it again asks the chain by the hash of what was sent (L7, W11).
    sideEffects: 'idempotent',
    capabilities,
    input: nodeInput,
    run: (ctx, input) =>
      runNode(ctx, input, values(profileOf(input.spec)), {
        keepsTime: capabilities.includes(TIME_EFFECT),
        looksBehind: capabilities.includes(chainEffects.call),
        seals: capabilities.includes(EXECUTION_EFFECT)
      })
  })
}

/** A block of nodes. The spec in its input is the definition's own: it is only read here. */
function nodeBlock(values: ValuesOf, definition: BlockDefinition<NodeInput, NodeResult>): Block {
  const block = defineBlock(definition)
  return Object.freeze<Block>({
    ...block,
    sharesInput: true,
    makesPlainData: true,
    refuses: (answer) => nodeRefusal(answer, values),
    parseInput: (given) => {
      const value = readNodeInput(given)
      return value === undefined ? block.parseInput(given) : { ok: true, value }
    }
  })
}

/** What versions of a block differ in. */
interface Abilities {
  readonly keepsTime: boolean
  readonly looksBehind: boolean
  readonly seals: boolean
}

async function runNode(
  ctx: BlockContext,
  input: NodeInput,
  values: CompileValues,
  abilities: Abilities = { keepsTime: false, looksBehind: false, seals: false }
): Promise<NodeResult> {
  const occasion: Occasion = { ctx, node: input.spec.node, elapsedMs: 0 }
  const isOnce = abilities.seals && input.spec.mode.writes !== 'simulate'
  try {
    return isOnce
      ? await actOnce({ ctx, input, values }, occasion)
      : await attempted({ ctx, input, values }, occasion, abilities)
  } catch (error) {
    if (error instanceof NodeFailure) ctx.log('error', error.details ?? null)
    throw error
  }
}

async function attempted(
  asked: Asked,
  occasion: Occasion,
  { keepsTime, looksBehind }: Abilities
): Promise<NodeResult> {
  const { ctx, input, values } = asked
  const gathered = await gather(asked, occasion, { keepsTime })
  const { readiness: ready } = gathered
  if (ready.state === 'skipped') return skipped(ctx, input, gathered)
  tellReady(ctx, input)
  const judging = await judgingOf(ctx, input, ready, { occasion, looksBehind })
  const allowance = await approve(ctx, input, ready, occasion, judging)
  const executed = await execute({ ctx, input, gathered, ready, allowance, values })
  return resultOf(input, gathered, ready, executed)
}

/** What compiles values before anybody has brought it: nothing may be compiled or run then. */
export function noValues(): CompileValues {
  throw coreError('core.internal', { problem: 'nothing compiles the values of workflows yet' })
}
