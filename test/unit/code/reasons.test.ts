import { expect, it } from 'vitest'
import { reasons } from '../../../src/code/request.js'

it('B5: the reasons of blocks are these labels, verbatim', () => {
  expect(Object.values(reasons)).toEqual([
    'invalid_graph',
    'unknown_node',
    'no_transition',
    'max_steps_exceeded',
    'condition_resolution_error',
    'condition_execution_error',
    'input_execution_error',
    'output_execution_error',
    'unknown_block',
    'block_busy',
    'unsafe_to_retry',
    'cancelled',
    'timed_out',
    'denied',
    'scope_conflict'
  ])
})
