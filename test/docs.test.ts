import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { collectorOptions } from '../src/testing/collector.js'

describe('generated pages', () => {
  it('docs/errors.md and docs/limits.md are current', () => {
    const script = fileURLToPath(new URL('../scripts/docs.mjs', import.meta.url))
    const { stderr, status } = spawnSync(process.execPath, [script, '--check'], {
      encoding: 'utf8'
    })
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  })
})

describe('copies of files on pages', () => {
  it('docs/recipes/docker.md shows the Dockerfile that `tally new` writes', () => {
    const [, shown] = page('docs/recipes/docker.md').split('```text\n')
    expect(shown?.split('```')[0]).toBe(page('templates/service/Dockerfile'))
  })
})

it('docs/testing.md names the options that processes of many lives have', () => {
  expect(page('docs/testing.md')).toContain(`node ${collectorOptions.join(' ')}`)
})

const root = new URL('../', import.meta.url)
const page = (path: string) => readFileSync(new URL(path, root), 'utf8')

describe('the first sample of the README', () => {
  it('is a workflow in code, no longer than what others begin with (29 and 39 lines)', () => {
    const [sample = ''] = /(?<=\n```ts\n).*?(?=\n```)/s.exec(page('README.md')) ?? []
    expect(sample).toMatch(/defineWorkflow\(.*createRuntime\(/s)
    expect(sample.split('\n').length).toBeLessThanOrEqual(29)
  })
})

describe('the glossary', () => {
  const section = page('docs/architecture.md').split('## Words\n')[1]?.split('\n## ')[0] ?? ''
  const words = [...section.matchAll(/^\| ([^|]+) \| [^|]+ \|$/gm)]
    .map(([, word = '']) => word)
    .filter((word) => word !== 'word')

  it('has at most 35 entries, each defined once', () => {
    expect(words.length).toBeGreaterThan(20)
    expect(words.length).toBeLessThanOrEqual(35)
    const single = words.flatMap((word) => word.split(', '))
    expect(new Set(single).size).toBe(single.length)
  })
})

describe('decisions', () => {
  const names = readdirSync(new URL('docs/decisions', root))

  it.each(names)('%s has a date and a status, and a line in the index', (name) => {
    const [, head = ''] = page(`docs/decisions/${name}`).split('\n\n')
    expect(head).toMatch(/^\*\*Date\.\*\* \d{4}-\d{2}-\d{2}\. \*\*Status\.\*\* \w[^\n]*\.$/)
    expect(page('docs/index.md')).toContain(`(decisions/${name})`)
  })
})
