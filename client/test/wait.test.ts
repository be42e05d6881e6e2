// Waiting for a run to its end, with progress.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type EndedExecution, isJobcastError, type Run, WaitTimeout } from '@jobcast/client'
import { newDevice } from '@jobcast/testkit/call-device'
import { openCuttingProxy } from '@jobcast/testkit/cutting-proxy'
import { clientOf, openClient } from './support/open-client.ts'

test('wait resolves with the finished run, and reports each change and each failure', async (t) => {
  const { server, jobcast } = await openClient(t)
  await jobcast.jobs.put('restart')
  const names = ['early', 'good', 'bad', 'refusing']
  const [early, good, bad, refusing] = await Promise.all([
    newDevice(server, 'early'),
    newDevice(server, 'good'),
    newDevice(server, 'bad'),
    newDevice(server, 'refusing'),
  ])
  const call = jobcast.trigger({ jobName: 'restart', deviceIds: names })
  const { runId, executions } = await call
  const idOf = (name: string) => executions.find(({ deviceId }) => deviceId === name)?.jobExecutionId ?? 0
  // Before the wait begins, so there is no event for it.
  await early.update(idOf('early'), 'FAILED', { statusDetails: { why: 'too early' } })

  const ended: EndedExecution[] = []
  const seen: Run[] = []
  const isEarlyTold = Promise.withResolvers<void>()
  const isBadTold = Promise.withResolvers<void>()
  const isStartSeen = Promise.withResolvers<void>()
  const waiting = call.wait({
    onProgress(run) {
      seen.push(run)
      if (run.counts.IN_PROGRESS === 1) isStartSeen.resolve()
    },
    onEnded(execution) {
      ended.push(execution)
      if (execution.deviceId === 'early') isEarlyTold.resolve()
      if (execution.deviceId === 'bad') isBadTold.resolve()
    },
  })
  await isEarlyTold.promise
  await good.startNext()
  await isStartSeen.promise
  await bad.update(idOf('bad'), 'FAILED', { statusDetails: { why: 'no disk' } })
  await isBadTold.promise // while the run continues
  await refusing.update(idOf('refusing'), 'REJECTED')
  await good.update(idOf('good'), 'SUCCEEDED')
  const run = await waiting
  assert.equal(run.runId, runId)
  assert.equal(run.finished, true)
  assert.deepEqual(seen.at(-1), run)
  assert.deepEqual(
    ended.map(({ deviceId, execState }) => `${deviceId} ${execState}`),
    ['early FAILED', 'bad FAILED', 'refusing REJECTED'],
  )
  assert.deepEqual(ended[1]?.statusDetails, { why: 'no disk' })
  assert.deepEqual(await jobcast.runs.wait(runId), run)
})

test('wait reports every failure of a large run exactly once over disconnects', async (t) => {
  const { server, jobcast } = await openClient(t)
  const deviceIds = Array.from({ length: 450 }, (_, index) => `d${index}`)
  await server.putJobAndDevices('restart', deviceIds)
  const proxy = await openCuttingProxy(t, server.http)
  proxy.cutNext(0, 300, 900, 500)
  const call = clientOf(server, { url: proxy.url }).trigger({ jobName: 'restart', deviceIds })
  const { runId } = await call
  const ended: number[] = []
  const waiting = call.wait({ onEnded: ({ jobExecutionId }) => ended.push(jobExecutionId) })
  await jobcast.runs.cancel(runId)
  assert.equal((await waiting).counts.CANCELED, 450)
  assert.equal(ended.length, 450)
  assert.equal(new Set(ended).size, 450)
})

test('wait rejects with WaitTimeout and the last read run', async (t) => {
  const { server, jobcast } = await openClient(t)
  await server.putJobAndDevices('restart', ['a'])
  const call = jobcast.trigger({ jobName: 'restart', deviceIds: ['a'] })
  let seen: Run | undefined
  // On a busy machine the time may be over before anything was seen: then with more of it.
  for (let timeoutMs = 100; seen === undefined; timeoutMs *= 2) {
    const error = await call.wait({ timeoutMs, onEnded: () => {} }).catch((thrown: unknown) => thrown)
    assert.ok(error instanceof WaitTimeout)
    seen = error.run
  }
  assert.equal(seen.counts.PENDING, 1)
})

test('wait ends with its signal, and with an error of a callback', async (t) => {
  const { server, jobcast } = await openClient(t)
  await server.putJobAndDevices('restart', ['a'])
  const call = jobcast.trigger({ jobName: 'restart', deviceIds: ['a'] })
  const reason = new Error('enough')
  const controller = new AbortController()
  const onProgress = () => controller.abort(reason)
  await assert.rejects(call.wait({ signal: controller.signal, onProgress }), reason)
  const onEnded = () => {
    throw reason
  }
  const { runId } = await call
  await jobcast.runs.cancel(runId)
  await assert.rejects(call.wait({ onEnded }), reason)
})

test('wait rejects with J-804 when the key may trigger but not read', async (t) => {
  const { server, jobcast } = await openClient(t)
  await server.putJobAndDevices('restart', ['a'])
  const { apiKey } = await jobcast.keys.create({ keyName: 'ci', scopes: ['TRIGGER'] })
  const call = clientOf(server, { apiKey }).trigger({ jobName: 'restart', deviceIds: ['a'] })
  assert.equal((await call).executions.length, 1)
  await assert.rejects(call.wait({ onEnded: () => {} }), (error) => isJobcastError(error, 'J-804'))
})
