import type { z } from 'zod-pinned'
import type { SystemWork } from './system-work.js'

/** The payload of a system intent, checked. Fails the intent as `invalid_input`. */
export function payloadOf<Payload>(
  { port, payload }: Pick<SystemWork, 'port' | 'payload'>,
  schema: z.ZodType<Payload>
): Payload {
  const parsed = schema.safeParse(payload)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const path = issue?.path.map(String).join('.') ?? ''
  return port.fail('invalid_input', { problem: `${path}: ${issue?.code ?? 'invalid'}` })
}
