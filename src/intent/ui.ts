import { isJsonObject, lazySchema, limits } from '../core/index.js'

const text = lazySchema((z) => z.string().max(limits.ACTION_LENGTH_MAX))

const widget = lazySchema((z) =>
  z.strictObject({
    /** Name of a kind of widget, which the renderer knows or leaves out. */
    type: text().min(1),
    id: text().optional(),
    title: text().optional(),
    data: z.json().optional()
  })
)

/**
 * How a result may be shown (K12), beside what it says:
 *
 *     "ui": {"layout":"grid","widgets":[{"data":{},"id":"a","title":"Balance","type":"card"}]}
 *
 * It is data like the rest of the result, in the receipt and under its hash; nothing is rendered.
 */
const uiPlan = lazySchema((z) =>
  z.strictObject({
    layout: text().min(1),
    widgets: z.array(widget()).max(limits.MANIFEST_ENTRIES_MAX)
  })
)

/** What is wrong with the `ui` of a result, or undefined; most have none. */
export function uiProblemOf(result: unknown): string | undefined {
  if (!isJsonObject(result as never) || !Object.hasOwn(result as object, 'ui')) return undefined
  const parsed = uiPlan().safeParse((result as { readonly ui: unknown }).ui)
  if (parsed.success) return undefined
  const [issue] = parsed.error.issues
  return `${['ui', ...(issue?.path ?? [])].map(String).join('.')}: ${issue?.code ?? 'invalid'}`
}
