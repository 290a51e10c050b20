import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { type Browser, chromium, type Page } from 'playwright-core'
import { ConsoleServer, pageDirectory, readPageFiles } from '../../src/console/index.js'
import { defineBlock } from '../../src/index.js'
import { createRuntime, type DocumentGraph } from '../../src/runtime/index.js'
import { Engine } from '../engine.js'
import { Scratch } from '../measure.js'
import type { Group, Row } from '../row.js'

const WIDTH = 64
const STEPS_WATCHED = 30_000
const KEYS = 20
/** Frames in each of which the list is moved on, and how far: more than a turned wheel does. */
const FRAMES_SCROLLED = 300
const SCROLLED_PIXELS = 300
const BYTES_A_MB = 1_000_000
/** Of the chart, and how many of them stand beside each other. */
const NODES = 1_000
const NODES_A_RANK = 20

type PageFiles = Awaited<ReturnType<typeof readPageFiles>>

/**
 * The console's page in a real Chromium, before a ledger of 1,000 runs, or 10,000: its first view,
 * its memory and nodes, and its frames while its list scrolls, and while the ledger is at full load
 * in the same process; and the chart of a plan of 1,000 nodes.
 */
export const page: Group = {
  rows: [
    'page.first',
    'page.nodes',
    'page.heap',
    'page.input',
    'page.scroll',
    'page.frame',
    'page.chart.layout',
    'page.chart.drawn'
  ],
  async measure({ full }) {
    const executablePath = [process.env['TALLY_CHROMIUM'] ?? '', '/usr/bin/chromium'].find(
      (path) => path !== '' && existsSync(path)
    )
    if (executablePath === undefined) return []
    const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    const browser = await chromium.launch({ executablePath, args: ['--disable-gpu', ...asRoot] })
    const scratch = new Scratch()
    const path = scratch.directory()
    const engine = await Engine.open({ path, durability: 'output', stateKeys: 0 })
    await engine.workflows(full ? 10_000 : 1_000, WIDTH)
    const files = await readPageFiles(fileURLToPath(pageDirectory))
    const { service: handle } = engine.runtime
    const server = await ConsoleServer.open({ port: 0, handle, page: files })
    try {
      // The second view of the browser has what the first had to start.
      await (await opened(browser, server)).close()
      const rows = await rowsOf(await opened(browser, server), engine)
      return [...rows, ...(await chartRows(browser, files))]
    } finally {
      await browser.close()
      await server.close()
      await engine.close()
      scratch.remove()
    }
  }
}

async function opened(browser: Browser, server: ConsoleServer): Promise<Page> {
  const view = await (await browser.newContext()).newPage()
  await view.goto(server.link())
  await view.waitForSelector('.trow')
  return view
}

async function rowsOf(view: Page, engine: Engine): Promise<readonly Row[]> {
  const first = await view.evaluate<number>(
    'performance.getEntriesByName("first-contentful-paint")[0].startTime'
  )
  for (let scrolled = 0; scrolled < 20; scrolled += 1) {
    await view.evaluate('document.querySelector(".runs").scrollTop += 5_000')
    await view.waitForSelector('.trow')
  }
  const nodes = await view.evaluate<number>('document.querySelectorAll("*").length')
  const heap = (await heapBytes(view)) / BYTES_A_MB
  const input = await longestInputMs(view)
  return [
    atMost('page.first', first, { unit: 'ms', target: 300 }),
    atMost('page.nodes', nodes, { unit: 'nodes', target: 2_000 }),
    atMost('page.heap', heap, { unit: 'MB', target: 80 }),
    atMost('page.input', input, { unit: 'ms', target: 100 }),
    atMost('page.scroll', await longestScrollMs(view), { unit: 'ms', target: 50 }),
    atMost('page.frame', await longestFrameMs(view, engine), { unit: 'ms', target: 50 })
  ]
}

const step = defineBlock({
  name: 'bench.step',
  version: '1.0.0',
  sideEffects: 'none',
  run: () => null
})

/** A plan whose nodes each follow two of the rank before. */
function wide() {
  const nodes = Array.from({ length: NODES }, (_, n) => {
    const [first, left] = [n - NODES_A_RANK, n % NODES_A_RANK === 0 ? 1 - NODES_A_RANK : 1]
    const deps = first < 0 ? [] : [`n${first}`, `n${first - left}`]
    return { id: `n${n}`, block: step.name, deps }
  })
  return { schema: 'tally-plan/1', name: 'bench.wide', version: '1.0.0', nodes }
}

/** A chart's layout, and all from the question for its graph to its paint. */
async function chartRows(browser: Browser, page: PageFiles): Promise<readonly Row[]> {
  const scratch = new Scratch()
  const location = scratch.directory()
  const options = { create: 'if-absent', insecurePlaintextKey: true, blocks: [step] } as const
  await using runtime = await createRuntime({ location, ...options })
  await runtime.begin(wide(), { id: 'wide', inputs: {} }).result
  const { graph } = await runtime.queries.chart({ id: 'wide' })
  const server = await ConsoleServer.open({ port: 0, handle: runtime.service, page })
  // The second view has what the first had to start.
  await drawnMs(browser, server)
  const drawn = await drawnMs(browser, server)
  await server.close()
  return [
    atMost('page.chart.layout', await layoutMs(browser, graph), { unit: 'ms', target: 50 }),
    atMost('page.chart.drawn', drawn, { unit: 'ms', target: 300 })
  ]
}

/** The layout of a graph by the page's own code, the first that a browser does with it. */
async function layoutMs(browser: Browser, graph: DocumentGraph): Promise<number> {
  const source = new URL('../../../src/console/page/pure/graph-layout.ts', import.meta.url)
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(source)],
    bundle: true,
    format: 'iife',
    globalName: 'chart',
    write: false
  })
  const view = await (await browser.newContext()).newPage()
  await view.evaluate(`${outputFiles[0]?.text}; globalThis.chart = chart`)
  const { ms, nodes } = await view.evaluate<{ ms: number; nodes: number }>(`(() => {
    const graph = ${JSON.stringify(graph)}
    const begun = performance.now()
    const { nodes } = globalThis.chart.layoutOf(graph)
    return { ms: performance.now() - begun, nodes: nodes.length }
  })()`)
  await view.close()
  if (nodes !== NODES) throw new Error(`the chart has ${nodes} nodes`)
  return ms
}

/** From when the page asks for the graph of a run until its chart is on the screen. */
async function drawnMs(browser: Browser, server: ConsoleServer): Promise<number> {
  const view = await (await browser.newContext()).newPage()
  await view.addInitScript(`globalThis.drawn = new Promise((resolve) => {
    requestAnimationFrame(function look() {
      if (document.querySelector('.ch .nd') === null) return requestAnimationFrame(look)
      setTimeout(() => resolve(performance.now()))
    })
  })`)
  const { origin, hash } = new URL(server.link())
  await view.goto(`${origin}/runs/wide${hash}`)
  const drawn = await view.evaluate<number>('globalThis.drawn')
  const asked = await view.evaluate<number>(`performance
    .getEntriesByType('resource')
    .find(({ name }) => name.endsWith('/api/chart')).startTime`)
  await view.close()
  return drawn - asked
}

/** What is in use once nothing is left to collect. */
async function heapBytes(view: Page): Promise<number> {
  const session = await view.context().newCDPSession(view)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  return usedSize
}

/** From a key to the paint after it. */
async function longestInputMs(view: Page): Promise<number> {
  await view.evaluate('document.querySelector(".runs").scrollTop = 0')
  let longest = 0
  for (let key = 0; key < KEYS; key += 1) {
    await view.evaluate(`void (globalThis.painted = new Promise((resolve) => {
      const painted = ({ timeStamp }) => resolve(performance.now() - timeStamp)
      const pressed = (event) => requestAnimationFrame(() => setTimeout(() => painted(event)))
      addEventListener('keydown', pressed, { once: true })
    }))`)
    await view.keyboard.press('j')
    longest = Math.max(longest, await view.evaluate<number>('globalThis.painted'))
  }
  return longest
}

/** The longest time between two frames, while the list of runs is scrolled from its top. */
async function longestScrollMs(view: Page): Promise<number> {
  await view.evaluate('document.querySelector(".runs").scrollTop = 0')
  const { longest, moved } = await view.evaluate<{ longest: number; moved: number }>(
    `new Promise((resolve) => {
      const list = document.querySelector('.runs')
      let [longest, frames] = [0, 0]
      const frame = (at, last) => {
        longest = Math.max(longest, at - last)
        list.scrollTop += ${SCROLLED_PIXELS}
        frames += 1
        if (frames > ${FRAMES_SCROLLED}) resolve({ longest, moved: list.scrollTop })
        else requestAnimationFrame((next) => frame(next, at))
      }
      requestAnimationFrame((at) => frame(at, at))
    })`
  )
  if (moved < SCROLLED_PIXELS) throw new Error('the list has not been scrolled')
  return longest
}

/** The longest time between two frames, while the ledger does thousands of steps. */
async function longestFrameMs(view: Page, engine: Engine): Promise<number> {
  const shown = () => view.evaluate<string>('document.querySelector(".beat").textContent')
  const before = await shown()
  await view.evaluate(
    'globalThis.longest = 0; void (function frame(at, last = at) { ' +
      'globalThis.longest = Math.max(globalThis.longest, at - last); ' +
      'requestAnimationFrame((next) => frame(next, at)) })(performance.now())'
  )
  for (let steps = 0; steps < STEPS_WATCHED; ) steps += await engine.workflows(100, WIDTH)
  const longest = await view.evaluate<number>('globalThis.longest')
  if ((await shown()) === before) throw new Error('the page has not followed')
  return longest
}

function atMost(
  name: string,
  value: number,
  { unit, target }: { readonly unit: string; readonly target: number }
): Row {
  return { name, value, unit, floor: null, ratio: null, target, better: 'lower' }
}
