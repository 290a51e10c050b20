import { resolve } from 'node:path'
import { type Json, type JsonObject, policyHashOf } from '../core/index.js'
import { createKeyFile, generateIdentity } from '../identity/index.js'
import type { AnswerAction } from '../runtime/index.js'
import { type AnswerOptions, answer, waitOf } from './frame/answer.js'
import {
  parseRequest,
  parseSignature,
  requestDocument,
  signatureDocument
} from './frame/approval-files.js'
import { approverPassphrase, signedWith } from './frame/approver-key.js'
import { readInputOrStandard, readJson, writeOutput } from './frame/files.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { chosenPassphrase } from './frame/passphrase.js'
import type { Wait } from './frame/render.js'
import { openSession, withSession } from './frame/session.js'
import { escapedJson, text } from './frame/text.js'

/** `tally approval key FILE`: makes a key file for an approver, and prints its public key. */
export async function makeKey(
  frame: Frame,
  file: string,
  options: { readonly insecurePlaintextKey?: boolean }
): Promise<ExitCode> {
  const { output } = frame
  const path = resolve(frame.cwd, file)
  const keys = generateIdentity()
  const { publicKey } = keys
  if (options.insecurePlaintextKey === true) {
    await createKeyFile({ path, keys, insecurePlaintext: true })
  } else {
    const passphrase = approverPassphrase(frame) ?? (await chosenPassphrase()) ?? ''
    await createKeyFile({ path, keys, passphrase })
  }
  output.document('approver-key', { file: path, publicKey })
  output.line(text`${publicKey}`)
  output.log(text`wrote ${path}: name this public key as an approver, and keep the file`)
  return exitCodes.done
}

/** `tally approval request RUN [TOKEN]`: writes what an approver has to be shown. */
export async function request(
  frame: Frame,
  runId: string,
  token: string | undefined,
  options: { readonly output?: string }
): Promise<ExitCode> {
  return withSession(frame, 'read', async ({ client }) => {
    const isMeant = ({ actions }: Wait) => actions.length > 0
    const wait = await waitOf(frame, client, { runId, token, action: 'approve', isMeant })
    const document = requestDocument(wait)
    // What is not shown whole is not asked for.
    parseRequest(JSON.stringify(document))
    await handOut(frame, document, { name: 'approval-request', file: options.output })
    return exitCodes.done
  })
}

/** `tally approval show [FILE]`: all that a signature covers, and the digest computed from it. */
export async function show(frame: Frame, file: string | undefined): Promise<ExitCode> {
  const wait = parseRequest(await readInputOrStandard(frame, file))
  frame.output.document('approval-shown', { wait, policyHash: policyHashOf(wait) })
  for (const line of coveredLines(wait)) frame.output.line(line)
  return exitCodes.done
}

/** `tally approval sign [FILE] --as KEYFILE`: signs an answer, without the ledger. */
export async function sign(
  frame: Frame,
  file: string | undefined,
  options: {
    readonly as: string
    readonly action?: string
    readonly value?: string
    readonly output?: string
  }
): Promise<ExitCode> {
  const wait = parseRequest(await readInputOrStandard(frame, file))
  const { digest, token, runId } = wait
  const { action = 'approve' } = options
  const value = options.value === undefined ? null : await readJson(frame, options.value, '--value')
  for (const line of coveredLines(wait)) frame.output.log(line)
  const said = { digest, token, action, value }
  const approval = await signedWith(frame, options.as, { wait, answer: said })
  frame.output.log(text`${approval.key} signs: ${action} ${JSON.stringify(value)}`)
  const document = signatureDocument({ runId, approval })
  await handOut(frame, document, { name: 'approval', file: options.output })
  return exitCodes.done
}

/** `tally approval submit [FILE]`: gives the run what an approver has signed. */
export async function submit(
  frame: Frame,
  file: string | undefined,
  options: AnswerOptions
): Promise<ExitCode> {
  const { runId, approval } = parseSignature(await readInputOrStandard(frame, file))
  const { key, signature, digest, token, action, value } = approval
  const session = await openSession(frame, 'run', { config: options.config })
  return answer(frame, session, {
    ...options,
    runId,
    token,
    digest,
    // The run refuses an action that its wait does not have.
    action: action as AnswerAction,
    value,
    approval: { key, signature },
    isMeant: () => true
  })
}

/** What the digest covers, member by member, and what stands beside it. */
function coveredLines(wait: ReturnType<typeof parseRequest>) {
  const { identity, runId, path, step, asking, blockHash, request: asked, approvers } = wait
  const { digest, token, reason, actions, due, approvals = [] } = wait
  const whole = (value: Json) => JSON.stringify(value)
  return [
    text`identity    ${identity ?? ''}`,
    text`run         ${runId}`,
    text`place       ${path}, step ${step}${asking === undefined ? '' : `, asked ${asking} times`}`,
    text`block       ${blockHash ?? ''}`,
    text`chain       none, signer none`,
    text`policy      ${policyHashOf(wait) ?? 'none'}`,
    ...(approvers === undefined
      ? [text`approvers   none: a signature says who answers`]
      : [text`approvers   ${approvers.threshold} of ${approvers.keys.length}`]),
    ...(approvers?.keys ?? []).map((key) => text`            ${key}`),
    text`request     ${whole(asked)}`,
    text`digest      ${digest} (computed from the above)`,
    text`beside it   ${reason}: ${actions.join(', ')}; due ${due === null ? 'never' : `${due}`}`,
    text`token       ${token}`,
    ...approvals.map(
      ({ key, action, value }) => text`signed      ${key} ${action} ${whole(value)} (valid)`
    )
  ]
}

async function handOut(
  frame: Frame,
  document: JsonObject,
  { name, file }: { readonly name: string; readonly file: string | undefined }
): Promise<void> {
  frame.output.document(name, document)
  const content = `${escapedJson(document)}\n`
  if (file === undefined) return frame.output.file(content)
  await writeOutput(frame, file, { content, isNew: true })
  frame.output.log(text`wrote ${file}`)
}
