// Triggers with large bodies: responses do not depend on the size, and the event loop is not blocked.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
await api.putJobAndDevices('restart', ['d1', 'd2'])
const send = (rawBody: string) => api.trigger('', [], { rawBody })
/** More than is parsed at once. */
const padding = `"padding":"${'x'.repeat(100_000)}"`

test('a large body is answered like a small one', async () => {
  const { status, json } = await send(`{${padding},"deviceIds":["d2","d1","d2"],"jobName":"restart","x":[1]}`)
  assert.equal(status, 201)
  assert.deepEqual(
    json.map(({ deviceId }: { deviceId: string }) => deviceId),
    ['d2', 'd1'],
  )
  assertRefused(await send(`{${padding},"deviceIds":["d1","d9"],"jobName":"restart"}`), 'J-001')
  assertRefused(await send(`{${padding},"deviceIds":["d1"],"jobName":"other"}`), 'J-301')
  const bad = [
    '"deviceIds":["d1"]',
    '"jobName":"restart"',
    '"jobName":1,"deviceIds":["d1"]',
    '"jobName":"restart","deviceIds":[]',
    '"jobName":"restart","deviceIds":["d1",2]',
    '"jobName":"restart","deviceIds":["d1",""]',
    '"jobName":"restart","deviceIds":["\\ud800"]',
    '"jobName":"restart","deviceIds":"d1"',
    '"jobName":"restart","deviceIds":["d1"],"__proto__":{}',
    `"jobName":"restart","deviceIds":["d1"],"x":${'['.repeat(40)}${']'.repeat(40)}`,
    '"jobName":"restart","deviceIds":["d1"],',
  ]
  for (const fields of bad) assertRefused(await send(`{${padding},${fields}}`), 'J-500')
  assertRefused(await send(`[${padding.slice(10)}]`), 'J-500')
})

test('a list of more devices than allowed is refused, and so is a body that is large without one', async () => {
  const list = Array.from({ length: 10_001 }, (_, index) => `"device-${index}"`).join(',')
  assertRefused(await send(`{"jobName":"restart","deviceIds":[${list}]}`), 'J-500')
  const other = `"x":[${'{},'.repeat(700_000)}{}]`
  assertRefused(await send(`{"jobName":"restart","deviceIds":["d1"],${other}}`), 'J-904')
})

test('hostile bodies of several megabytes do not block the event loop', async (t) => {
  const bodies = ['{}', '1', '"a"', '[[]]'].map(
    (unit) =>
      `{"x":[${`${unit},`.repeat(5_000_000 / (unit.length + 1))}1],"jobName":"restart","deviceIds":["d1"]}`,
  )
  const turns: number[] = []
  for (const body of bodies) {
    const bytes = Buffer.from(body)
    const watch = watchTurns()
    assertRefused(await api.trigger('', [], { rawBody: bytes }), 'J-904')
    turns.push(watch.longestMs())
  }
  t.diagnostic(`longest turns: ${turns.map((ms) => Math.round(ms)).join(', ')} ms`)
  // JSON.parse takes hundreds of milliseconds for each of them.
  assert.ok(Math.min(...turns) < 100, `${turns} ms`)
})

/** How long one turn of the event loop computes; what it waits for a core on a busy machine does not count. */
function watchTurns(): { longestMs: () => number } {
  let last = process.threadCpuUsage()
  let longest = 0
  const measure = () => {
    const { user, system } = process.threadCpuUsage(last)
    last = process.threadCpuUsage()
    longest = Math.max(longest, user + system)
    next = setImmediate(measure)
  }
  let next = setImmediate(measure)
  return {
    longestMs() {
      clearImmediate(next)
      return longest / 1000
    },
  }
}
