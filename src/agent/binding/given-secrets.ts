import { isCredentialName, Redactor } from '../../core/index.js'

/**
 * A redactor that knows the headers or variables which a program hands to a server, as far as their
 * names say that they are secret: `authorization`, `GITHUB_TOKEN`. They go by `<owner>.<name>`.
 */
export function redactorOf(given: Readonly<Record<string, string>> = {}, owner: string): Redactor {
  const redactor = new Redactor()
  for (const [name, value] of Object.entries(given)) {
    if (isCredentialName(name)) learn(redactor, `${owner}.${name}`, value)
    else redactor.knowAddress(`${owner}.${name}`, value)
  }
  return redactor
}

/** Without its scheme, the value of an `authorization` header is a secret by itself. */
function learn(redactor: Redactor, reference: string, value: string): void {
  redactor.know(reference, value)
  const [, scheme, rest] = /^(\w+) +(\S+)$/.exec(value.trim()) ?? []
  if (scheme === undefined || rest === undefined) return
  redactor.know(reference, rest)
  if (scheme.toLowerCase() !== 'basic') return
  const pair = Buffer.from(rest, 'base64').toString('utf8')
  redactor.know(reference, pair.slice(pair.indexOf(':') + 1))
}
