// Values of a run: validation that takes long does not block others.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@jobcast/contract'
import { requireValues } from '../../../src/domain/trigger/run-values.ts'
import { OwnerTurns } from '../../../src/state/turns.ts'

const pattern = { type: 'string' as const, pattern: '(?:a|){240}b' }
const content = {
  document: {},
  parameters: { type: 'object' as const, properties: { text: pattern } },
}

const turns = new OwnerTurns()

/** What it is refused with. */
const judge = (ownerNo: number, length: number) =>
  requireValues(turns, ownerNo, content, { text: 'a'.repeat(length) }).catch((error: unknown) =>
    error instanceof ApiError ? error.code : error,
  )

test('of calls whose patterns take many steps one is judged in each turn of the event loop', async () => {
  let judged = 0
  const calls = Array.from({ length: 5 }, (_, owner) => judge(100 + owner, 15_000 + owner))
  for (const call of calls) call.then(() => judged++)
  let most = 0
  for (let turn = 0, before = 0; turn < 100 && judged < calls.length; turn++, before = judged) {
    await new Promise((resolve) => setImmediate(resolve))
    most = Math.max(most, judged - before)
  }
  assert.deepEqual([judged, most], [5, 1])
  assert.deepEqual(new Set(await Promise.all(calls)), new Set(['J-500']))
})

test('calls of one owner whose patterns take many steps wait for each other, and not for those of another', async () => {
  const ended: string[] = []
  const note = (name: string) => () => ended.push(name)
  const first = judge(1, 15_000).then(note('first'))
  const second = judge(1, 15_000).then(note('second'))
  await judge(2, 15_000).then(note('of another'))
  assert.deepEqual(ended, ['first', 'of another'])
  await Promise.all([first, second])
  assert.deepEqual(ended, ['first', 'of another', 'second'])
})

test('answers J-908 when more than 64 calls of one owner wait to have their patterns matched', async () => {
  const calls = Array.from({ length: 65 }, () => judge(3, 50))
  const codes = await Promise.all(calls)
  assert.deepEqual([codes.filter((code) => code === 'J-908').length, codes.at(-1)], [1, 'J-908'])
})
