import type { Project } from '../project.js'
import { documentCaller, socketCaller } from './callers.js'
import {
  agentsHandOverRoad,
  aisRoad,
  clientCaller,
  followedPageRoad,
  followRoad,
  nextProcessRoad,
  otherUsersClient,
  workflowCaller
} from './newer-roads.js'
import { OTHER_USER, through, type Walked } from './walked.js'
import { AGENT } from './world.js'

/** Other processes that ask, or want the ledger. */
export const processRows = (project: () => Project): readonly Walked[] => [
  {
    road: 'client',
    principal: 'owner',
    open: async (world) => through(await clientCaller(world), world)
  },
  {
    road: 'client',
    principal: 'other user of the machine',
    open: async (world) => through(otherUsersClient(world, project(), OTHER_USER), world)
  },
  {
    road: 'hand-over',
    principal: 'owner',
    handOver: true,
    open: async (world) => nextProcessRoad(world)
  },
  {
    road: 'hand-over',
    principal: 'agent',
    handOver: true,
    stages: ['yes', 'granted'],
    open: agentsHandOverRoad
  }
]

/** Workflows: as documents of AIS, and in code by their names. */
export const workflowRows: readonly Walked[] = [
  {
    road: 'workflow of AIS',
    principal: 'owner',
    open: async (world) => aisRoad(documentCaller(world))
  },
  {
    road: 'workflow of AIS',
    principal: 'agent',
    stages: ['yes', 'granted'],
    open: async (world) => aisRoad(await socketCaller(world, AGENT))
  },
  {
    road: 'workflow in code',
    principal: 'owner',
    open: async (world) => through(await workflowCaller(world), world)
  },
  {
    road: 'workflow in code',
    principal: 'agent',
    stages: ['yes', 'granted'],
    open: async (world) => through(await workflowCaller(world, AGENT), world)
  }
]

/** What a run does, as a stream. */
export const followRows: readonly Walked[] = [
  {
    road: 'follow',
    principal: 'owner',
    open: (world) => followRoad(world)
  },
  {
    road: 'follow',
    principal: 'agent',
    stages: ['yes', 'granted'],
    open: (world) => followRoad(world, AGENT)
  },
  {
    road: 'follow',
    principal: 'reader of a page of the program',
    open: followedPageRoad
  }
]
