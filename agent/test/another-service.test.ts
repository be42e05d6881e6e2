// An agent whose state folder has executions of another service, or of one whose data was deleted: the ids are equal, but the
// executions are different.

import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { Journal } from '../src/state/journal.ts'
import { newDeviceUnderTest } from './support/device-under-test.ts'

const hourMs = 60 * 60 * 1000

test('an execution starts even if another service had one with the same number', async (t) => {
  const before = await openServer(t, { now: () => Date.now() - hourMs })
  const old = await newDeviceUnderTest(t, before)
  old.addHandler('greet', 'echo from the old one')
  const agent = await old.start()
  const first = await old.run({ handler: 'greet' })
  // Refused without a start, which is remembered in another way.
  const refused = await old.run({ handler: 'missing' })
  assert.deepEqual(
    [first.id, first.execState, refused.id, refused.execState],
    [1, 'SUCCEEDED', 2, 'REJECTED'],
  )
  await agent.stop()

  const after = await openServer(t)
  const device = await newDeviceUnderTest(t, after)
  device.addHandler('greet', 'echo from the new one')
  await device.start({ stateFolder: old.options().stateFolder })
  for (const id of [1, 2]) {
    const again = await device.run({ handler: 'greet' })
    assert.deepEqual([again.id, again.execState], [id, 'SUCCEEDED'])
    assert.equal((await device.output(id)).toString(), 'from the new one\n')
  }
})

test('an unreported outcome of another service is not reported to this one', async (t) => {
  const api = await openServer(t)
  const device = await newDeviceUnderTest(t, api)
  device.addHandler('greet', 'echo here; exit 3')
  const { stateFolder } = device.options()
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 })
  const journal = await Journal.open(join(stateFolder, 'journal'), () => assert.fail('there is none'))
  const key = { jobId: '1', attempt: 1, queuedAt: 1_000_000 }
  const start = { start: 1, startId: 'id', bootId: 'boot', onInterrupt: 'report' as const }
  await journal.add({ kind: 'starting', ...key, ...start }, true)
  await journal.add({ kind: 'finished', ...key, outcome: { status: 'SUCCEEDED', statusDetails: {} } }, true)
  await journal.close()

  const id = await device.trigger({ handler: 'greet' })
  assert.equal(id, 1)
  await device.start()
  assert.equal((await device.ended(id)).execState, 'FAILED')
  assert.equal((await device.output(id)).toString(), 'here\n')
})
