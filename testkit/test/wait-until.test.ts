import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '@jobcast/testkit/wait-until'

test('it resolves once the condition holds, however often it is checked', async () => {
  let checks = 0
  await waitUntil('it was checked three times', async () => ++checks === 3, { intervalMs: 1 })
  assert.equal(checks, 3)
})

test('it names the unmet condition, and passes on errors of a check', async () => {
  const never = waitUntil('pigs fly', () => false, { timeoutMs: 5, intervalMs: 1 })
  await assert.rejects(never, /after 5 ms still not: pigs fly/)
  const broken = waitUntil('it works', () => assert.fail('broken'))
  await assert.rejects(broken, /broken/)
})
