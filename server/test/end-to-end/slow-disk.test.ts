// The event loop is not blocked by the disk: /livez responds during all writes.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { disturbDisk } from '@jobcast/testkit/disturb-disk'
import { type SpawnedServer, spawnServer } from '@jobcast/testkit/spawn-server'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { deviceIdsUpTo, seedData } from '../support/seed-data.ts'

const count = testSize('devices', { test: 2000, chaos: 10_000 })
const deviceIds = deviceIdsUpTo(count)

async function open(t: TestContext): Promise<SpawnedServer> {
  const folder = newTemporaryFolder()
  await seedData(folder, { jobs: ['restart'], deviceIds })
  const server = await spawnServer(folder)
  t.after(() => server.end('SIGKILL'))
  removeAfter(t, folder)
  return server
}

/** Asks /livez again and again until the work is done; gives the times of the answers. */
async function watchLiveness(server: SpawnedServer, work: Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  const isDoneOrAlive = async () => {
    const begun = performance.now()
    assert.equal((await server.call('GET', '/livez')).status, 200)
    times.push(performance.now() - begun)
    return isDone
  }
  await waitUntil('it is written', isDoneOrAlive)
  await done
  return times
}

// The guarantee is 100 ms; this bound also holds on a busy machine in some tries. The benchmark measures the exact time.
const boundMs = 2000
const tries = 5
/** What each sync takes longer: more than the bound, so that an event loop that waited for it would be noticed. */
const delayMs = 2500

/** An event loop that waits for the disk does so in every try. */
async function assertOnceWithinBound(measure: () => Promise<number[]>): Promise<void> {
  const slowest: number[] = []
  do slowest.push(Math.max(...(await measure())))
  while (Math.min(...slowest) >= boundMs && slowest.length < tries)
  assert.ok(Math.min(...slowest) < boundMs, `the slowest answers took ${slowest} ms`)
}

test(`/livez answers while ${count} devices of a call are written`, async (t) => {
  const server = await open(t)

  await t.test('in several calls at once', async (t) => {
    await assertOnceWithinBound(async () => {
      const calls = Promise.all(Array.from({ length: 4 }, () => server.trigger('restart', deviceIds)))
      const times = await watchLiveness(server, calls)
      assert.ok((await calls).every((reply) => reply.status === 201))
      t.diagnostic(`${times.length} answers, the slowest after ${Math.round(Math.max(...times))} ms`)
      return times
    })
  })

  await t.test('to a slow disk', async (t) => {
    const disk = await disturbDisk(server.pid, {
      fsync: `delay_enter=${delayMs * 1000}`,
      fdatasync: `delay_enter=${delayMs * 1000}`,
    })
    if (typeof disk === 'string') return t.skip(disk)
    t.after(() => disk.end())
    await assertOnceWithinBound(async () => {
      const begun = performance.now()
      const calls = Promise.all([
        server.trigger('restart', deviceIds),
        server.trigger('restart', ['device-1']),
      ])
      const times = await watchLiveness(server, calls)
      const ms = performance.now() - begun
      assert.ok((await calls).every((reply) => reply.status === 201))
      t.diagnostic(
        `written after ${Math.round(ms)} ms; ${times.length} answers meanwhile, the slowest after ${Math.round(Math.max(...times))} ms`,
      )
      assert.ok(ms > delayMs, 'the disk was not slow')
      return times
    })
  })
})
