// docs/states.md has a picture of the state table, which must match the table.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { execStates } from '@jobcast/contract'
import { executionEvents, isTerminal, nextState } from '../../../src/domain/execution/execution.ts'

const picture = readFileSync(new URL('../../../../docs/states.md', import.meta.url), 'utf8')

test('the picture of the states shows every move of the table, and no other', () => {
  const drawn = [...picture.matchAll(/^ +(\w+) --> (\w+): (.+)$/gm)].flatMap(([, from, to, events = '']) =>
    events.split(', ').map((event) => `${from} ${event} ${to}`),
  )
  const table = execStates.flatMap((from) =>
    executionEvents.flatMap((event) => {
      const to = nextState(from, event)
      return to === undefined ? [] : [`${from} ${event} ${to}`]
    }),
  )
  assert.deepEqual(drawn.toSorted(), table.toSorted())
})

test('the picture of the states ends where the table ends', () => {
  const drawn = [...picture.matchAll(/^ +(\w+) --> \[\*\]$/gm)].map(([, state]) => state)
  assert.deepEqual(
    drawn,
    execStates.filter((state) => isTerminal(state)),
  )
})
