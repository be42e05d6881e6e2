// How many requests of one device wait, without a broker: the store does not answer, so none is served.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { BridgeDevices } from '../../../src/gateway/bridge/bridge-devices.ts'
import { type BridgeRequestDeps, BridgeRequests } from '../../../src/gateway/bridge/bridge-requests.ts'
import { RateLimits, unlimited } from '../../../src/limits/rate-limits.ts'

const tooLarge = `{"clientToken":"c","padding":"${'x'.repeat(128 * 1024)}"}`

type Answer = { code: string; clientToken?: string }

function openRequests(t: TestContext, device = 0) {
  let now = 0
  let isCrowded = false
  const elapsed = () => now
  const limits = new RateLimits({ ...unlimited, device }, elapsed)
  const moment = () => ({ at: 0, clock: 0 })
  const answers: Answer[] = []
  const find = () => new Promise(() => undefined)
  const requests = new BridgeRequests({ limits, moment, elapsed } as unknown as BridgeRequestDeps, {
    ...{ prefix: 'p', ownerNo: 1, devices: { find } as unknown as BridgeDevices },
    answer: (_topic, json) => answers.push(JSON.parse(json)),
    heard: () => undefined,
    isCrowded: () => isCrowded,
  })
  t.after(() => requests.stop())
  let acknowledged = 0
  const acknowledge = () => acknowledged++
  /** How many messages were acknowledged meanwhile. */
  const publish = (suffix: string, count = 1, payload = '{"clientToken":"c"}', deviceId = 'd1') => {
    const before = acknowledged
    const message = {
      topic: `p/${deviceId}/jobs/${suffix}`,
      payload: Buffer.from(payload),
      isRetained: false,
    }
    for (let each = 0; each < count; each++) requests.receive({ ...message, isStale: false, acknowledge })
    return acknowledged - before
  }
  const crowd = (crowded: boolean, afterMs: number) => {
    isCrowded = crowded
    now += afterMs
  }
  const codes = () => answers.map(({ code, clientToken }) => `${code} ${clientToken}`)
  return { publish, codes, crowd }
}

test('reports beyond the rate are refused, and those that end executions have a rate of their own', (t) => {
  const { publish, codes } = openRequests(t, 1)
  // A burst of ten; the first is being served.
  assert.equal(publish('1/output', 50), 40)
  assert.equal(publish('1/update', 10), 0)
  assert.equal(publish('get', 10), 0)
  assert.deepEqual(
    codes(),
    Array.from({ length: 20 }, () => 'RequestThrottled c'),
    'at most 20 answers to reports',
  )
  assert.equal(publish('get', 5), 5)
  assert.equal(codes().length, 21, 'one answer for all that is only asked')
})

test('of one device 500 requests wait, and 20 that are no reports', (t) => {
  const { publish } = openRequests(t)
  assert.equal(publish('get', 30), 9)
  assert.equal(publish('1/update', 1000), 520)
})

test('where little room is left, the longest line is cut, and the others stay', (t) => {
  const { publish, codes, crowd } = openRequests(t)
  publish('1/output', 200)
  publish('1/output', 100, '{}', 'd2')
  publish('1/output', 11, '{}', 'd3')
  crowd(true, 1000)
  assert.equal(publish('get', 1, '{}', 'd4'), 199)
  assert.equal(codes().filter((each) => each === 'RequestThrottled c').length, 20)
  crowd(true, 50)
  assert.equal(publish('get', 1, '{}', 'd5'), 0, 'what was served before has to be acknowledged first')
  crowd(true, 50)
  assert.equal(publish('get', 1, '{}', 'd6'), 99)
  crowd(true, 100)
  assert.equal(publish('get', 1, '{}', 'd7'), 0, 'lines of ten stay')
  crowd(true, 100)
  assert.equal(publish('1/output', 1, '{}', 'd3'), 11)
})

test('a message that is too large is refused without parsing it', (t) => {
  const { publish, codes } = openRequests(t)
  assert.equal(publish('get', 1, tooLarge), 1)
  assert.deepEqual(codes(), ['InvalidRequest undefined'])
})
