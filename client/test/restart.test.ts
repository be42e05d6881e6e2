// A service that restarts, as for an upgrade: followers continue without an error.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobcastEvent } from '@jobcast/client'
import { deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { freePort } from '@jobcast/testkit/free-port'
import { openServer } from '@jobcast/testkit/open-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { clientOf } from './support/open-client.ts'

test('events, output and wait continue after a restart of the service', async (t) => {
  const dataFolder = temporaryFolder(t)
  // Not one that the system gives to anybody who connects while the service is away.
  const port = await freePort()
  const before = await openServer(t, { dataFolder, port })
  const jobcast = clientOf(before, { maxRetries: 0 })
  const device = await newDevice(before, 'a')
  await jobcast.jobs.put('restart')
  const call = jobcast.trigger({ jobName: 'restart', deviceIds: ['a'] })
  const id = (await call).executions[0]?.jobExecutionId ?? 0
  await device.startNext()
  await device.output(id, 0, 'before ')

  const opened = Promise.withResolvers<void>()
  const events: JobcastEvent[] = []
  const following = (async () => {
    for await (const event of jobcast.events({ types: ['run.*'], onOpen: () => opened.resolve() })) {
      events.push(event)
      if (event.type === 'run.finished') return
    }
  })()
  const output = await jobcast.executions.output(id, { follow: true })
  const text = output.text()
  const seen = Promise.withResolvers<void>()
  const waiting = call.wait({ onProgress: () => seen.resolve() })
  await Promise.all([opened.promise, seen.promise])

  await before.server.stop()
  const after = await openServer(t, { dataFolder, port })
  const again = deviceCalls(after.http, 'a', device.token)
  await again.output(id, 7, 'and after')
  await again.update(id, 'SUCCEEDED')
  assert.equal(await text, 'before and after')
  assert.equal((await waiting).counts.SUCCEEDED, 1)
  await following
  assert.deepEqual(
    events.map(({ type }) => type),
    ['run.finished'],
  )
})
