export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

interface Point {
  readonly x: number
  readonly y: number
}

/** Where a text begins, and the pixels that it may have: no node is there. */
export interface LabelPlace extends Point {
  readonly room: number
}

/** The line of an edge: path of SVG, where its condition stands, and where its order does. */
export interface Route {
  readonly line: string
  readonly label: LabelPlace
  readonly badge: Point | null
}

const ARROW = 8

export type RouteKind = 'next' | 'skip' | 'back'

/** From left to right; `lane` is the line of the gutter that what leads back or skips runs in. */
export function routeAcross(kind: RouteKind, from: Box, to: Box, lane: number): Route {
  const right = from.x + from.width
  const middle = from.y + from.height / 2
  const target = to.y + to.height / 2
  if (kind === 'back') return backAcross(from, to, lane)
  if (kind === 'skip') {
    const bend = middle > lane ? -6 : 6
    return {
      line:
        `M${right} ${middle}h8q6 0 6 ${bend}V${lane + 6}q0 -6 6 -6` +
        `H${to.x - 20}q6 0 6 6V${target - 6}q0 6 6 6H${to.x}`,
      label: { x: right + 22, y: lane - 4, room: to.x - right - 48 },
      badge: null
    }
  }
  const turn = right + Math.min(34, (to.x - right) * 0.4)
  const end = Math.min(turn + 22, to.x - 10)
  return {
    line:
      `M${right} ${middle}C${Math.min(turn + 12, end)} ${middle} ` +
      `${Math.max(right, end - 30)} ${target} ${end} ${target}H${to.x}`,
    label: { x: turn + 14, y: target - 6, room: to.x - turn - 14 - ARROW },
    badge: { x: turn + 4, y: middle + (target - middle) * 0.62 }
  }
}

function backAcross(from: Box, to: Box, lane: number): Route {
  const right = from.x + from.width
  const start = from.y + from.height * 0.72
  const end = to.y + to.height * 0.76
  if (from === to) {
    const line = `M${right} ${start - 18}h10q5 0 5 5v8q0 5 -5 5h-10`
    const label = { x: from.x + 4, y: from.y - 5, room: from.width - 4 }
    return { line, label, badge: null }
  }
  return {
    line:
      `M${right} ${start}h6q6 0 6 6V${lane - 6}q0 6 -6 6` +
      `H${to.x - 10}q-6 0 -6 -6V${end + 6}q0 -6 6 -6H${to.x}`,
    label: { x: from.x + 4, y: lane - 2, room: from.width - 4 },
    badge: null
  }
}

/** From top to bottom: on narrow screens. */
export function routeDown(kind: RouteKind, from: Box, to: Box, lane: number): Route {
  const middle = from.x + from.width / 2
  const bottom = from.y + from.height
  const target = to.x + to.width / 2
  if (kind === 'back') return backDown(from, to, lane)
  if (kind === 'skip') {
    return {
      line:
        `M${middle} ${bottom}v8q0 6 -6 6H${lane + 6}q-6 0 -6 6V${to.y - 20}` +
        `q0 6 6 6H${target - 6}q6 0 6 6V${to.y}`,
      label: { x: lane + 4, y: bottom + 24, room: from.width },
      badge: null
    }
  }
  const turn = (bottom + to.y) / 2
  return {
    line: `M${middle} ${bottom}C${middle} ${turn} ${target} ${turn - 14} ${target} ${to.y}`,
    label: { x: to.x + 2, y: to.y - 8, room: to.width - 2 },
    badge: { x: middle + (target - middle) * 0.3, y: bottom + 13 }
  }
}

function backDown(from: Box, to: Box, lane: number): Route {
  const right = from.x + from.width
  const bottom = from.y + from.height
  const start = from.x + from.width * 0.82
  const end = to.x + to.width * 0.86
  if (from === to) {
    const line = `M${right} ${from.y + 14}h8q5 0 5 5v10q0 5 -5 5h-8`
    const label = { x: from.x + 2, y: bottom + 11, room: from.width / 2 - 14 }
    return { line, label, badge: null }
  }
  return {
    line:
      `M${start} ${bottom}v6q0 6 6 6H${lane - 6}q6 0 6 -6V${to.y - 8}` +
      `q0 -6 -6 -6H${end + 6}q-6 0 -6 6V${to.y}`,
    label: { x: from.x + 2, y: bottom + 24, room: from.width * 0.8 },
    badge: null
  }
}
