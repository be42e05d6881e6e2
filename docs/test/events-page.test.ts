import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventTypes } from '@jobcast/contract'
import { readPage } from './pages.ts'

test('docs/events.md has every type of event, and no other', () => {
  const rows = [
    ...readPage('docs/events.md').matchAll(
      /^\| (`(?:run|execution|device|fleet|schedule|key|enrollment|webhook|session|owner)\.[a-z_`., -]+) \|/gm,
    ),
  ]
  const documented = rows.flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([a-z_.-]+)`/g)].map(([, type]) => type),
  )
  assert.deepEqual(documented.toSorted(), eventTypes.toSorted())
})
