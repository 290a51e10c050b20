import type { Refusal } from '../../capability/index.js'
import { type Paint, type Text, text } from './text.js'

/** Why a package is refused: one line for each reason. */
export function refusalLines(
  paint: Paint,
  name: string,
  refusals: readonly Refusal[]
): readonly Text[] {
  return refusals.map(({ code, path, message }) => {
    const place = path.length === 0 ? '' : ` at ${path.join('.')}`
    return text`${paint('red', 'refused')} ${name}: ${code}${place}: ${message}`
  })
}
