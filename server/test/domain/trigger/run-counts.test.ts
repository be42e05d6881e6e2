// How moves change the counts of their runs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ExecState, execStates } from '@jobcast/contract'
import { countMoves } from '../../../src/domain/trigger/run-counts.ts'

const move = (runId: number, from: ExecState, execState: ExecState, at = 1) => ({
  moved: { ownerNo: runId * 10, deviceId: 'd', jobExecutionId: 1, runId, from, execState },
  at,
})

const changed = (counts: Partial<Record<ExecState, number>>) => ({
  ...Object.fromEntries(execStates.map((state) => [state, 0])),
  ...counts,
})

test('one change for each run, in the order of their ids', () => {
  const changes = countMoves([
    move(8, 'PENDING', 'IN_PROGRESS'),
    move(2, 'PENDING', 'EXPIRED', 5),
    move(8, 'PENDING', 'IN_PROGRESS'),
    move(8, 'IN_PROGRESS', 'CANCELING'),
    move(2, 'IN_PROGRESS', 'FAILED', 7),
  ])
  assert.deepEqual(changes, [
    {
      runId: 2,
      ownerNo: 20,
      counts: changed({ PENDING: -1, IN_PROGRESS: -1, EXPIRED: 1, FAILED: 1 }),
      endsAt: 7,
    },
    { runId: 8, ownerNo: 80, counts: changed({ PENDING: -2, IN_PROGRESS: 1, CANCELING: 1 }), endsAt: null },
  ])
})

test('an execution whose state does not change changes no count', () => {
  assert.deepEqual(countMoves([move(1, 'IN_PROGRESS', 'IN_PROGRESS'), move(1, 'PENDING', 'PENDING')]), [])
})
