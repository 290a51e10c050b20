import type { CodeTexts } from '../texts.js'

export const agentCodes = {
  'agent.invalid_tool': {
    message: 'The tool {name} cannot be registered: {problem}.',
    fix: 'Correct its definition.'
  },
  'agent.duplicate_adapter': {
    message: 'Two adapters are registered as {kind}.',
    fix: 'Register each kind of adapter once.'
  },
  'agent.not_a_flow': {
    message: '{path} is not a flow document.',
    fix: 'Give a file with meta.schemaVersion and graph.'
  },
  'agent.unknown_adapter': {
    message: 'No adapter is registered as {kind}; registered are: {kinds}.',
    fix: 'Register an adapter of that kind, or correct adapterKind.'
  },
  'agent.missing_library': {
    message: 'The optional library {library} is not installed.',
    fix: 'Install the version of {library} that package.json of tallystick names as a peer.'
  },
  'agent.mcp_unreachable': {
    message: 'The MCP server {server} gives no tools: {problem}.',
    fix: 'Check that it starts, or that its URL is right, and that it speaks MCP.'
  },
  'agent.duplicate_tool': {
    message: 'Two tools of an MCP server have the capability {capability}.',
    fix: 'Name the tools that you want in the option "tools".'
  }
} as const satisfies CodeTexts
