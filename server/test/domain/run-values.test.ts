// Values of a run: those that take long to judge leave room for others.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@jobcast/contract'
import { requireValues } from '../../src/domain/run-values.ts'

const pattern = { type: 'string' as const, pattern: '(?:a|){240}b' }
const content = {
  document: {},
  parameters: { type: 'object' as const, properties: { text: pattern } },
}

test('of calls whose patterns take many steps one is judged in each turn of the event loop', async () => {
  let judged = 0
  const texts = Array.from({ length: 5 }, (_, call) => 'a'.repeat(15_000 + call))
  const calls = texts.map((text) => requireValues(content, { text }).catch((error: unknown) => error))
  for (const call of calls) call.then(() => judged++)
  let most = 0
  for (let turn = 0, before = 0; turn < 100 && judged < calls.length; turn++, before = judged) {
    await new Promise((resolve) => setImmediate(resolve))
    most = Math.max(most, judged - before)
  }
  assert.deepEqual([judged, most], [5, 1])
  for (const error of await Promise.all(calls)) assert(error instanceof ApiError && error.code === 'J-500')
})
