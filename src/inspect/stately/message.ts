import type { JsonObject } from '../../core/index.js'

/**
 * A message of Stately's inspector, as its receivers take it (`@statelyai/inspect` 0.7). Plain JSON
 * without functions and actors.
 */
export type InspectionMessage = ActorMessage | EventMessage | SnapshotMessage

interface MessageBase {
  readonly _version: typeof INSPECTION_VERSION
  /** Logical time of the run, milliseconds, as text. */
  readonly createdAt: string
  readonly id: null
  /** `<run>/root`. */
  readonly rootId: string
  /** `<run>/<path>` of the block. */
  readonly sessionId: string
}

/** A block takes part from now on; its parent did before. */
export interface ActorMessage extends MessageBase {
  readonly type: '@xstate.actor'
  /** Of its node; the root has that of its document or block. */
  readonly name: string
  readonly parentId?: string
  /** JSON text of the chart, whole. */
  readonly definition: string
  readonly snapshot: SnapshotShown
}

/** An event that an actor was sent, as Stately's inspector takes it. */
export interface EventMessage extends MessageBase {
  readonly type: '@xstate.event'
  /** Of the block that sends it; absent: what drives the run. */
  readonly sourceId?: string
  readonly event: EventShown
}

/** State value or context of a block have changed. */
export interface SnapshotMessage extends MessageBase {
  readonly type: '@xstate.snapshot'
  readonly snapshot: SnapshotShown
  /** What led there. */
  readonly event: EventShown
}

export interface EventShown extends JsonObject {
  readonly type: string
}

export interface SnapshotShown extends JsonObject {
  /** A root whose run has ended is `done` with its `output`, or has an `error`. */
  readonly status: 'active' | 'done' | 'error'
}

/** Version of the messages, not of anything here. */
export const INSPECTION_VERSION = '0.7.2'
