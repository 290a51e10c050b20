/** location: where a ledger lies on disk, and which of its data directories is the live one. */
export { readIfPresent, replaceFile, syncDirectory } from './durable-file.js'
export {
  initLocation,
  inspectLocation,
  type Location,
  openLocation,
  unfinishedData
} from './location.js'
export {
  type DataDirectory,
  encodeMarker,
  isDataDirectory,
  LEDGER_FORMAT_VERSION,
  MARKER_FORMAT,
  type Marker,
  mainIdentity,
  parseMarker
} from './marker.js'
export { SubjectKeyFiles } from './subject-files.js'
