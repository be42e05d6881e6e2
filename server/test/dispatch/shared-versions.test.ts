// Concurrent equal requests are sent once, later ones are sent again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareVersions } from '../../src/dispatch/shared-versions.ts'

test('concurrent equal requests share the result or error; later ones are sent again', async () => {
  const asked: string[] = []
  const list = shareVersions(async ({ jobName }) => {
    asked.push(jobName)
    if (asked.length === 3) throw new Error('the store is down')
    return { items: [], next: asked.length }
  })
  const ask = (jobName: string) => list({ ownerNo: 1, jobName, slice: { after: undefined, limit: 1 } })
  const [first, same, other] = await Promise.all([ask('a'), ask('a'), ask('b')])
  assert.deepEqual(asked, ['a', 'b'])
  assert.equal(first, same)
  assert.notEqual(first, other)
  const failed = await Promise.allSettled([ask('a'), ask('a')])
  assert.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal((await ask('a')).next, 4)
})
