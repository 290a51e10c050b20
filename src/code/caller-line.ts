/**
 * Where code of a program calls this library, as `file:line:column`; undefined where engines do not
 * tell. Dear: for messages only.
 */
export function callerLine(): string | undefined {
  const { stack = '' } = new Error('where')
  const places = stack.split('\n').flatMap(placeIn)
  // What stands in one folder with this file is this library's, as it is compiled and as a bundle.
  const own = folderOf(places[0] ?? '')
  return places.find((place) => folderOf(place) !== own)
}

const folderOf = (place: string) => place.replace(/[^\\/]*$/, '')

/** The place that a frame of a stack names. */
function placeIn(frame: string): readonly string[] {
  const place = /(?:file:\/\/)?((?:[A-Za-z]:)?[^\s():]+:\d+:\d+)\)?$/.exec(frame.trim())?.[1]
  return place === undefined ? [] : [place]
}
