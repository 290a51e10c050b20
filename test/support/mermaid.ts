import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createContext, Script } from 'node:vm'

interface Mermaid {
  parse(text: string): Promise<{ readonly diagramType: string }>
}

/** What of the browser the library asks for when it is loaded. */
const globals = {
  ...{ URL, TextEncoder, TextDecoder, structuredClone, queueMicrotask },
  ...{ setTimeout, clearTimeout, console }
}

/**
 * Sanitising labels takes a document, of which there is none here: in the context of the library,
 * and nowhere else, they stay as they are. All else is Mermaid's own grammar.
 */
const withoutDocument = `
  Function.prototype.addHook = () => undefined
  Function.prototype.sanitize = (text) => text`

let loaded: Mermaid | undefined

/** The kind of diagram that Mermaid reads a text as; rejects with where it cannot be read. */
export async function mermaidKind(text: string): Promise<string> {
  loaded ??= load()
  return (await loaded.parse(text)).diagramType
}

function load(): Mermaid {
  const file = createRequire(import.meta.url).resolve('@mermaid-js/tiny')
  const context = createContext({ ...globals })
  for (const source of [withoutDocument, readFileSync(file, 'utf8')]) {
    new Script(source).runInContext(context)
  }
  return (context as unknown as { readonly mermaid: Mermaid }).mermaid
}
