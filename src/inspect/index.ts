/** inspect: what a run does, as tools outside show it. */

export type {
  ActorMessage,
  EventMessage,
  InspectionMessage,
  SnapshotMessage
} from './stately/message.js'
export { INSPECTION_VERSION } from './stately/message.js'
export { RunMessages, type RunMessagesOptions } from './stately/run-messages.js'
export {
  type InspectionSocket,
  type InspectionSocketOptions,
  serveInspection
} from './stately/socket.js'
export { InspectionEvents, type Inspector } from './stately/xstate-events.js'
