import type { Json, JsonObject } from '../../../core/index.js'

/** A widget of a result (K12), read strictly: what does not fit its kind is shown as data. */
export type Widget =
  | { readonly kind: 'stat'; readonly value: string; readonly unit: string }
  | {
      readonly kind: 'table'
      readonly columns: readonly string[]
      readonly rows: readonly (readonly string[])[]
    }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'key-value'; readonly members: readonly (readonly [string, string])[] }
  | { readonly kind: 'progress'; readonly value: number; readonly max: number }
  | { readonly kind: 'chart'; readonly points: readonly ChartPoint[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'json'; readonly data: Json; readonly problem: string | null }

export interface ChartPoint {
  readonly label: string
  readonly value: number
}

export interface PlacedWidget {
  readonly key: string
  readonly title: string
  readonly widget: Widget
}

/** Widgets of a plan that are drawn; a plan may have more. */
const WIDGETS_MAX = 100
const ITEMS_MAX = 1_000

export const isObject = (value: Json | undefined): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

const textOf = (value: Json | undefined): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

const textsOf = (value: Json | undefined): readonly string[] | undefined =>
  Array.isArray(value) ? value.slice(0, ITEMS_MAX).map(textOf) : undefined

/** The widgets of a result's `ui`; none where it is no plan. */
export function widgetsOf(plan: Json): readonly PlacedWidget[] {
  const widgets = isObject(plan) ? plan['widgets'] : undefined
  if (!Array.isArray(widgets)) return []
  return widgets.slice(0, WIDGETS_MAX).flatMap((widget, place) => {
    if (!isObject(widget)) return []
    const kind = textOf(widget['type'])
    const data = widget['data'] ?? null
    const read = readers[kind]?.(data)
    const problem = kind in readers ? `not the data of a ${kind}` : `no widget "${kind}" here`
    const key = `${place} ${textOf(widget['id'])}`
    const title = textOf(widget['title'])
    return [{ key, title, widget: read ?? { kind: 'json', data, problem } }]
  })
}

type Reader = (data: Json) => Widget | undefined

const member = (data: Json, name: string): Json | undefined =>
  isObject(data) ? data[name] : undefined

const readers: Readonly<Record<string, Reader>> = {
  __proto__: null as never,
  stat: (data) => {
    const value = member(data, 'value')
    if (value === undefined || typeof value === 'object') return undefined
    return { kind: 'stat', value: textOf(value), unit: textOf(member(data, 'unit')) }
  },
  table: (data) => {
    const columns = textsOf(member(data, 'columns'))
    const rows = member(data, 'rows')
    if (columns === undefined || !Array.isArray(rows)) return undefined
    const read = rows.slice(0, ITEMS_MAX).map(textsOf)
    const whole = read.filter((row) => row !== undefined)
    return whole.length === read.length ? { kind: 'table', columns, rows: whole } : undefined
  },
  list: (data) => {
    const items = textsOf(Array.isArray(data) ? data : member(data, 'items'))
    return items === undefined ? undefined : { kind: 'list', items }
  },
  text: (data) => textWidget('text', data, 'text'),
  code: (data) => textWidget('code', data, 'code') ?? textWidget('code', data, 'text'),
  'key-value': (data) => {
    if (!isObject(data)) return undefined
    const members = Object.entries(data).slice(0, ITEMS_MAX)
    return { kind: 'key-value', members: members.map(([name, value]) => [name, textOf(value)]) }
  },
  progress: (data) => {
    const value = member(data, 'value')
    const max = member(data, 'max') ?? 1
    if (typeof value !== 'number' || typeof max !== 'number' || max <= 0) return undefined
    return { kind: 'progress', value: Math.max(0, Math.min(max, value)), max }
  },
  chart: (data) => {
    const points = member(data, 'points') ?? data
    if (!Array.isArray(points) || points.length === 0) return undefined
    const read = points.slice(0, ITEMS_MAX).map(pointOf)
    const whole = read.filter((point) => point !== undefined)
    return whole.length === read.length ? { kind: 'chart', points: whole } : undefined
  },
  json: (data) => ({ kind: 'json', data, problem: null })
}

function textWidget(kind: 'text' | 'code', data: Json, name: string): Widget | undefined {
  const text = typeof data === 'string' ? data : member(data, name)
  return typeof text === 'string' ? { kind, text } : undefined
}

function pointOf(value: Json, place: number): ChartPoint | undefined {
  if (typeof value === 'number') return { label: String(place), value }
  const number = member(value, 'value')
  if (typeof number !== 'number') return undefined
  return { label: textOf(member(value, 'label')), value: number }
}
