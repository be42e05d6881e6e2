import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ExecState, execStates } from '@jobcast/contract'
import fc from 'fast-check'
import { type ExecutionEvent, isTerminal, nextState } from '../../src/domain/execution.ts'

const events: ExecutionEvent[] = ['cancel', 'force-cancel', 'remove-device']
const terminal: ExecState[] = ['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'REJECTED', 'EXPIRED', 'CANCELED']

test('six states are terminal, the other three are not', () => {
  assert.deepEqual(execStates.filter(isTerminal), terminal)
})

test('states move as the design says', () => {
  const moves = execStates.flatMap((state) =>
    events.flatMap((event) => {
      const next = nextState(state, event)
      return next === undefined ? [] : [`${state} ${event} ${next}`]
    }),
  )
  assert.deepEqual(moves, [
    'PENDING cancel CANCELED',
    'PENDING force-cancel CANCELED',
    'PENDING remove-device CANCELED',
    'IN_PROGRESS cancel CANCELING',
    'IN_PROGRESS force-cancel CANCELED',
    'IN_PROGRESS remove-device CANCELED',
    'CANCELING force-cancel CANCELED',
    'CANCELING remove-device CANCELED',
  ])
})

test('no sequence of events leads out of a terminal state, back to PENDING, or round in a circle', () => {
  const sequence = fc.array(fc.constantFrom(...events), { maxLength: 12 })
  fc.assert(
    fc.property(fc.constantFrom(...execStates), sequence, (start, sequence) => {
      const seen = new Set<ExecState>([start])
      let state = start
      for (const event of sequence) {
        const next = nextState(state, event)
        if (next === undefined) continue
        assert.ok(!isTerminal(state), `${state} is terminal, yet ${event} leads to ${next}`)
        assert.ok(!seen.has(next), `${event} leads back to ${next}`)
        seen.add(next)
        state = next
      }
    }),
    { numRuns: 5000 },
  )
})
