import { isWorkflow, type Workflow } from '../../code/index.js'
import { isJsonObject, type Json, testingError } from '../../core/index.js'
import { Compilations, type Registrations } from '../../runtime/index.js'
import type { PreparedTarget } from './prepared-target.js'
import { probeRuntime } from './probe.js'
import { loadRoomWorlds } from './world-parts.js'

/** A workflow in code, with what else its runs name, as `defineConfig` takes it. */
export interface FunctionTarget extends Registrations {
  /** What runs begin with; registered with the others. */
  readonly starts: Workflow
}

const OF_FUNCTIONS =
  'workflows in code: steps that no case has called, and runs that it starts as children'
const BESIDE =
  '"resumes" of workflows in code whose steps run beside each other, or that start others as runs'

export function isFunctionTarget(target: unknown): target is Workflow | FunctionTarget {
  if (typeof target !== 'object' || target === null) return false
  return isWorkflow(target) || 'starts' in target
}

/** What the processes of its plays register. Throws `testing.target_invalid`. */
function functionRegistrations(target: Workflow | FunctionTarget): Registrations {
  if (isWorkflow(target)) return { workflows: [target] }
  const { starts: _, workflows = [], ...others } = target
  const starts = startOf(target)
  return { ...others, workflows: workflows.includes(starts) ? workflows : [...workflows, starts] }
}

function startOf(target: Workflow | FunctionTarget): Workflow {
  const starts = isWorkflow(target) ? target : target.starts
  if (isWorkflow(starts)) return starts
  throw testingError('testing.target_invalid', { problem: 'it starts no workflow in code' })
}

/** Throws what registering it throws, and `testing.target_invalid`. */
export async function prepareFunctionTarget(
  one: () => Workflow | FunctionTarget
): Promise<PreparedTarget> {
  const registrations = () => functionRegistrations(one())
  const target = one()
  const starts = startOf(target)
  const { name, version, definition } = starts
  const compilations = new Compilations()
  const runtime = await probeRuntime(functionRegistrations(target), compilations)
  try {
    const { compiled, checkInputs } = runtime.registry.documents.prepareWorkflow(starts)
    const problem = (value: Json) => checkInputs(value)[0]?.problem
    return {
      ...{ name, source: { workflow: name, version }, registrations, compiled, compilations },
      takes: { schema: inputSchemaOf(definition.schemas.input), problem },
      notChecked: [OF_FUNCTIONS, BESIDE],
      // A run that its code starts may be of any room.
      rooms: await loadRoomWorlds(),
      ...{ effects: {}, values: [], hosted: undefined, written: undefined },
      close: async () => undefined
    }
  } finally {
    await runtime.close()
  }
}

/** As JSON Schema; undefined: it has none, or one without a JSON form. */
function inputSchemaOf(schema: Json): Json | undefined {
  if (schema === null) return undefined
  const isVendor = isJsonObject(schema) && Object.keys(schema).join() === 'vendor'
  return isVendor ? undefined : schema
}
