import { spawnSync } from 'node:child_process'
import { beforeAll, describe, expect, it } from 'vitest'
import { documentOf, Project } from '../support/project.js'

/** Runs a script of a shell, where the shell is installed. */
function ranBy(shell: string, lines: readonly string[]): string | undefined {
  const { error, stdout, stderr } = spawnSync(shell, ['-c', lines.join('\n')], { encoding: 'utf8' })
  if (error !== undefined) return undefined
  expect(stderr).toBe('')
  return stdout
}

describe('tally completion', () => {
  const scripts = new Map<string, string>()

  beforeAll(async () => {
    const project = await Project.create()
    for (const shell of ['bash', 'zsh', 'fish']) {
      const said = await project.tally(['completion', shell, '--json'])
      const { script } = documentOf(said, 'completion') as { readonly script: string }
      scripts.set(shell, script)
    }
    const unknown = await project.tally(['completion', 'csh'])
    expect(unknown).toMatchObject({ code: 2, stdout: '' })
    await project.remove()
  })

  const completed = (...words: readonly string[]) => {
    const typed = words.map((word) => `'${word}'`).join(' ')
    const said = ranBy('bash', [
      scripts.get('bash') ?? '',
      `COMP_WORDS=(tally ${typed}); COMP_CWORD=${words.length}`,
      `_tally; printf "%s\\n" "\${COMPREPLY[@]}"`
    ])
    return (said ?? '').split('\n').filter((word) => word !== '')
  }

  it('completes commands, those below them, and options of each in bash', () => {
    expect(completed('ver')).toEqual(['verify'])
    expect(completed('approval', 's')).toEqual(['show', 'sign', 'submit'])
    expect(completed('show', 'june', '--jo')).toEqual(['--journal'])
    expect(completed('verify', '--repl')).toEqual(['--replay'])
    // Options do not lead elsewhere, and values that no word begins are left to files.
    expect(completed('run', '--id', 'june', '--inp')).toEqual(['--inputs'])
    expect(completed('run', './fi')).toEqual([])
  })

  it('prints scripts that zsh and fish read, where they are installed', () => {
    for (const shell of ['zsh', 'fish']) {
      const script = scripts.get(shell) ?? ''
      expect(script).toContain('verify')
      expect(script).toContain('approval')
    }
    const read = ranBy('zsh', ['compdef() { : ; }', scripts.get('zsh') ?? '', 'echo read'])
    expect(read ?? 'read\n').toBe('read\n')
    const asked = [scripts.get('fish') ?? '', 'complete -C"tally approval s"']
    expect(ranBy('fish', asked) ?? 'show').toContain('show')
  })
})
