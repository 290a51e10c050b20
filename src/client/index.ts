/** client: a ledger that another process holds, asked through its owner socket. */
export { connect } from './client.js'
export type {
  CallOptions,
  Client,
  ClientAnswer,
  ClientStartOptions,
  ConnectOptions
} from './client-api.js'
