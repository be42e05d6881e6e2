import assert from 'node:assert/strict'
import { test } from 'node:test'
import { probeDelay, retryDelay } from '../../../src/dispatch/webhooks/retry-delay.ts'

const hour = 60 * 60_000

test('retries begin after seconds, grow, and end after about a day, whatever chance does', () => {
  for (const chance of [0, 0.5, 1]) {
    const delays: number[] = []
    for (
      let delay = retryDelay(1, chance);
      delay !== undefined;
      delay = retryDelay(delays.length + 1, chance)
    ) {
      delays.push(delay)
    }
    assert.ok((delays[0] ?? 0) <= 6000)
    assert.deepEqual(
      delays,
      delays.toSorted((a, b) => a - b),
    )
    const sum = delays.reduce((total, delay) => total + delay, 0)
    assert.ok(sum > 20 * hour && sum < 27 * hour, `${sum / hour} hours`)
  }
})

test('probes come within seconds at first, and every five minutes later on', () => {
  assert.ok(probeDelay(0, 1) <= 6000)
  for (const probes of [10, 100, 1000]) assert.equal(probeDelay(probes, 0.5), 5 * 60_000)
})
