import { spawnSync } from 'node:child_process'
import { chmod, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtFile } from '../support/built.js'
import { documentOf, type Ended, Project } from '../support/project.js'

/** Approvers on the command line: one at the ledger, one on a machine of its own. */
let project: Project
const keys: Record<string, string> = {}

beforeAll(async () => {
  project = await Project.create()
  await done(['init', '--insecure-plaintext-key'])
  for (const name of ['ada', 'ben', 'eve']) {
    const made = await done([
      'approval',
      'key',
      `${name}.key`,
      '--insecure-plaintext-key',
      '--json'
    ])
    keys[name] = String(documentOf(made, 'approver-key')['publicKey'])
  }
  await project.write('signed.yaml', documentFor([keys['ada'], keys['ben']]))
})
afterAll(() => project.remove())

function documentFor(named: readonly unknown[]): string {
  const approvers = JSON.stringify({ threshold: named.length, keys: named })
  const node = `first: { block: greet, confirm: { message: Greet?, approvers: ${approvers} } }`
  const head = 'schema: tally-composite/1\nname: signed\nversion: "1"\nentry_point: first'
  return `${head}\nnodes:\n  ${node}\n`
}

async function done(words: readonly string[], code = 0): Promise<Ended> {
  const ended = await project.tally(words)
  expect(ended, `${words.join(' ')}\n${ended.stdout}${ended.stderr}`).toMatchObject({ code })
  return ended
}

const text = (name: string) => readFile(project.path(name), 'utf8')

describe('tally approve --as', () => {
  it('K13: signs, is one of two, and says who is missing', async () => {
    const run = await done(['run', 'signed.yaml', '--id', 'both'], 4)
    expect(run.stdout).toContain('needs the signatures of 2 of 2 approvers')
    expect(run.stdout).toMatch(/tally approve both [0-9a-f]{32} --as KEYFILE/)
    const unsigned = await done(['approve', 'both', '--by', 'Ada'], 2)
    expect(unsigned.stderr).toContain('it needs the signatures of its approvers')
    const wrong = await done(['approve', 'both', '--as', 'eve.key'], 2)
    expect(wrong.stderr).toContain('none of the approvers')
    const first = await done(['approve', 'both', '--as', 'ada.key'], 4)
    expect(first.stdout).toContain(`${keys['ada']} has signed: approve`)
    const again = await done(['approve', 'both', '--as', 'ada.key'], 2)
    expect(again.stderr).toContain('counts once')
    const shown = await done(['show', 'both'])
    expect(shown.stdout).toContain(`${keys['ada']} has signed: approve`)
    expect(shown.stdout).not.toContain(`${keys['ben']} has signed`)
    await done(['approve', 'both', '--as', 'ben.key', '--by', 'Ben'])
    const journal = await done(['show', 'both', '--journal', '--json'])
    expect(journal.stdout).toContain('"claimed":"Ben"')
    expect(journal.stdout.split(`"key":"${keys['ben']}"`)).toHaveLength(2)
    await done(['verify', '--replay'])
  })

  it('K13: one signed denial ends the wait', async () => {
    await done(['run', 'signed.yaml', '--id', 'denied'], 4)
    await done(['approve', 'denied', '--as', 'ada.key'], 4)
    await done(['deny', 'denied'], 2)
    const denied = await done(['deny', 'denied', '--as', 'ben.key'], 1)
    expect(denied.stdout).toContain('failed denied denied')
    await done(['verify', '--replay'])
  })

  it('K13: signs what needs no signature, too', async () => {
    await done(['run', 'confirm.yaml', '--id', 'plain'], 4)
    await done(['approve', 'plain', '--as', 'eve.key'])
    const journal = await done(['show', 'plain', '--journal', '--json'])
    expect(journal.stdout).toContain(keys['eve'])
    await done(['run', 'ask.yaml', '--id', 'asked'], 4)
    const answered = await done(['resume', 'asked', '--value', '3', '--as', 'eve.key', '--json'])
    expect(documentOf(answered, 'result')).toMatchObject({ response: { data: { answer: 3 } } })
    await done(['verify', '--replay'])
  })
})

describe('tally approval', () => {
  it('K13: another machine shows, computes and signs a request without the ledger', async () => {
    await done(['run', 'signed.yaml', '--id', 'far'], 4)
    await done(['approval', 'request', 'far', '--output', 'far.json'])
    await done(['approve', 'far', '--as', 'ada.key'], 4)
    await done(['approval', 'request', 'far', '--output', 'later.json'])
    const away = await Project.create()
    await away.write('request.json', await text('later.json'))
    await away.write('ben.key', await text('ben.key'))
    await chmod(away.path('ben.key'), 0o600)
    const shown = await away.tally(['approval', 'show', 'request.json'])
    expect(shown).toMatchObject({ code: 0 })
    for (const words of ['far', 'Greet?', '2 of 2', `${keys['ada']} approve null (valid)`]) {
      expect(shown.stdout).toContain(words)
    }
    expect(shown.stdout).toMatch(/digest {6}[0-9a-f]{64} \(computed from the above\)/)
    const words = ['approval', 'sign', 'request.json', '--as', 'ben.key', '--output', 'ben.json']
    expect(await away.tally(words)).toMatchObject({ code: 0 })
    await project.write('ben.json', await readFile(away.path('ben.json'), 'utf8'))
    await away.remove()
    const named = ['approval', 'submit', 'ben.json', '--command-id', 'ben-1']
    expect((await done(named)).stdout).toContain('done far')
    expect((await done(named)).stderr).toContain('command ben-1 was given before: approve')
    const late = await done(['approval', 'submit', 'ben.json'], 2)
    expect(late.stderr).toContain('far')
    await done(['verify', '--replay'])
  })

  it('K13: what was altered on its way is neither shown, signed nor submitted', async () => {
    await done(['run', 'signed.yaml', '--id', 'altered'], 4)
    await done(['approval', 'request', 'altered', '--output', 'altered.json'])
    const request = await text('altered.json')
    const { wait } = JSON.parse(request)
    const alterations: readonly (readonly [string, unknown])[] = [
      ['request', { ...wait.request, message: 'Greet politely?' }],
      ['runId', 'another'],
      ['path', 'root/second'],
      ['step', 2],
      ['asking', 2],
      ['blockHash', '0'.repeat(64)],
      ['identity', '0'.repeat(64)],
      ['digest', '0'.repeat(64)],
      ['approvers', { threshold: 1, keys: wait.approvers.keys }],
      ['approvers', { threshold: 2, keys: [keys['ada'], keys['eve']].sort() }],
      ['approvers', undefined],
      ['policyHash', '0'.repeat(64)],
      ['chain', 'eip155:1'],
      ['surprise', true],
      ['approvals', [{ action: 'approve', key: keys['ada'] }]]
    ]
    for (const [member, value] of alterations) {
      const other = { format: 'tally-approval-request/1', wait: { ...wait, [member]: value } }
      await project.write('other.json', JSON.stringify(other))
      await done(['approval', 'show', 'other.json'], 2)
      await done(['approval', 'sign', 'other.json', '--as', 'ada.key'], 2)
    }
    await done(['approval', 'sign', 'altered.json', '--as', 'eve.key'], 2)
    await done(['approval', 'sign', 'altered.json', '--as', 'ada.key', '--action', 'resume'], 2)
    await done(['approval', 'sign', 'altered.json', '--as', 'ada.key', '--output', 'ok.json'])
    const signed = JSON.parse(await text('ok.json'))
    for (const [member, value] of [
      ['action', 'deny'],
      ['value', 1],
      ['key', keys['ben']],
      ['token', '0'.repeat(32)]
    ]) {
      const approval = { ...signed.approval, [String(member)]: value }
      await project.write('forged.json', JSON.stringify({ ...signed, approval }))
      await done(['approval', 'submit', 'forged.json'], 2)
    }
    await project.write('elsewhere.json', JSON.stringify({ ...signed, runId: 'both' }))
    await done(['approval', 'submit', 'elsewhere.json'], 2)
    await done(['approval', 'submit', 'ok.json'], 4)
    await done(['cancel', 'altered'])
  })

  it('K13: a file that any key can have signed is no answer of the owner', async () => {
    await done(['run', 'confirm.yaml', '--id', 'unsigned'], 4)
    await done(['approval', 'request', 'unsigned', '--output', 'unsigned.json'])
    const sign = ['approval', 'sign', 'unsigned.json', '--as', 'eve.key', '--output', 'eve.json']
    await done(sign)
    const { stderr } = await done(['approval', 'submit', 'eve.json'], 2)
    expect(stderr).toContain('names no approvers')
    await done(['approve', 'unsigned'])
  })

  it('K13: reads standard input, and its documents as --json writes them', async () => {
    await done(['run', 'signed.yaml', '--id', 'piped'], 4)
    const request = await done(['approval', 'request', 'piped', '--json'])
    await project.write('piped.json', request.stdout)
    const words = [
      'approval',
      'sign',
      'piped.json',
      '--as',
      'ada.key',
      '--action',
      'deny',
      '--json'
    ]
    const signed = await done(words)
    const command = [builtFile('cli/main.js'), 'approval', 'submit', '-']
    const options = { cwd: project.folder, input: signed.stdout, encoding: 'utf8' } as const
    const { status, stdout } = spawnSync(process.execPath, command, options)
    expect({ status, stdout }).toMatchObject({ status: 1 })
    expect(stdout).toContain('failed piped denied')
  })

  it('I6: a key is sealed by its passphrase, which no other key needs', async () => {
    const environment = { TALLY_APPROVER_PASSPHRASE: 'correct horse' }
    expect(await project.tally(['approval', 'key', 'none.key'])).toMatchObject({ code: 2 })
    const made = await project.tally(['approval', 'key', 'cay.key', '--json'], { environment })
    const cay = String(documentOf(made, 'approver-key')['publicKey'])
    expect(await text('cay.key')).not.toContain('plain text')
    await project.write('cay.yaml', documentFor([cay]))
    await done(['run', 'cay.yaml', '--id', 'sealed'], 4)
    await done(['approve', 'sealed', '--as', 'cay.key'], 2)
    const wrong = { TALLY_APPROVER_PASSPHRASE: 'wrong' }
    const words = ['approve', 'sealed', '--as', 'cay.key']
    expect(await project.tally(words, { environment: wrong })).toMatchObject({ code: 2 })
    expect(await project.tally(words, { environment })).toMatchObject({ code: 0 })
  })
})
