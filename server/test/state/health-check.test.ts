import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageUnavailable } from '../../src/domain/common/ports/storage-errors.ts'
import { HealthCheck } from '../../src/state/health-check.ts'

test('concurrent requests share one check', async () => {
  let looks = 0
  const health = new HealthCheck(async () => {
    looks++
  })
  await Promise.all(Array.from({ length: 100 }, () => health.check()))
  assert.equal(looks, 1)
})

test('a failed check is returned to all requests, and repeated after a while', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const results = [Promise.reject(new StorageUnavailable('disk full')), Promise.resolve()]
  results[0]?.catch(() => undefined)
  const health = new HealthCheck(() => results.shift() as Promise<void>)
  await assert.rejects(health.check(), StorageUnavailable)
  await assert.rejects(health.check(), StorageUnavailable)
  now = 1001
  await health.check()
})

test('a disk that does not answer is not available', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const health = new HealthCheck(() => new Promise(() => undefined))
  const checked = assert.rejects(health.check(), StorageUnavailable)
  t.mock.timers.tick(2000)
  await checked
})
