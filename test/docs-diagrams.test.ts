import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { blockChart } from '../machines/block.js'
import type { ChartNode } from '../machines/composite.js'
import { drawChart, drawMermaid } from '../src/block/document/draw.js'
import { type BlockRegistry, compileComposite, parseComposite } from '../src/block/index.js'
import { readDocument } from '../src/core/index.js'
import { loadExpressions } from '../src/expression/index.js'
import { mermaidKind } from './support/mermaid.js'
import { pages, readPage, repository, snippetsOf } from './support/snippets.js'

/**
 * Diagrams of the documentation are drawn from the charts. `<!-- chart: block -->` before a fence
 * is the whole chart, `<!-- graph: PATH -->` the graph of a document. With
 * `UPDATE_DOCS=1` this test writes them anew.
 */
const isUpdating = process.env['UPDATE_DOCS'] === '1'
const charts: Readonly<Record<string, ChartNode>> = { block: blockChart }

const registry: BlockRegistry = {
  block: (name) => ({ name, version: '1', sideEffects: 'none' }),
  composite: () => undefined,
  condition: () => () => true,
  repair: () => undefined
}

async function graphOf(path: string): Promise<string> {
  const parsed = parseComposite(readDocument(readFileSync(join(repository, path), 'utf8')))
  if (!parsed.ok) throw new Error(`${path} does not parse`)
  const expressions = await loadExpressions()
  const result = compileComposite(parsed.definition, { registry, expressions })
  if (!result.ok) throw new Error(`${path} does not compile`)
  return drawMermaid(result.compiled.config)
}

async function drawn(directive: string): Promise<string | undefined> {
  const [kind, name = ''] = directive.split(': ')
  const chart = charts[name]
  if (kind === 'chart' && chart !== undefined) return drawChart(chart)
  return kind === 'graph' ? graphOf(name) : undefined
}

describe('diagrams', () => {
  for (const snippet of pages().flatMap(snippetsOf)) {
    if (snippet.language !== 'mermaid') continue
    it(`${snippet.page}:${snippet.line} is drawn from its chart`, async () => {
      const text = await drawn(snippet.directive)
      if (isUpdating && text !== undefined) {
        const page = readPage(snippet.page)
        const fence = '```'
        const [before, after] = [`<!-- ${snippet.directive} -->\n${fence}mermaid\n`, fence]
        const old = `${before}${snippet.text}${after}`
        writeFileSync(
          join(repository, snippet.page),
          page.replace(old, () => before + text + after)
        )
      } else expect(snippet.text).toBe(text)
    })
    it(`${snippet.page}:${snippet.line} is read by Mermaid`, async () => {
      expect(await mermaidKind(snippet.text)).toMatch(/^(stateDiagram|flowchart-v2)$/)
    })
  }
})
