// A small disturbed history on SQLite. "npm run test:history" records large ones, on both stores.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import type { Fault } from './disturbed-service.ts'
import { recordHistory, type Scale } from './record-history.ts'

const own = { followers: 1, refusedPosts: 0, largeRun: 0, windows: false }
const scale: Scale = {
  first: { ...own, callers: 3, devices: { mqtt: 6, 'web-socket': 1, http: 2 }, followers: 2, maxOpen: 40 },
  second: { ...own, callers: 2, devices: { mqtt: 2, 'web-socket': 0, http: 1 }, maxOpen: 20 },
  executionsPerFault: 12,
}

test(`kills, a pause and disconnects leave a consistent history (seed ${testSeed})`, longTest, async (t) => {
  const kills = testSize('kills', { test: 1, chaos: 5 })
  const faults: Fault[][] = [['cut'], ['pause'], ...Array<Fault[]>(kills).fill(['kill'])]
  const nextFaults = () => faults.shift()
  const { problems, figures } = await recordHistory(t, {
    store: 'sqlite',
    seed: testSeed,
    scale,
    nextFaults,
  })
  t.diagnostic(JSON.stringify(figures))
  assert.deepEqual(problems, [])
  assert.ok(
    figures.kills === kills && (figures.executions ?? 0) > 30,
    'too little happened to prove anything',
  )
})
