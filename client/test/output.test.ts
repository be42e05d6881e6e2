// Output over broken connections: each byte once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isJobcastError } from '@jobcast/client'
import { newDevice } from '@jobcast/testkit/call-device'
import { openCuttingProxy } from '@jobcast/testkit/cutting-proxy'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { clientOf, openClient } from './support/open-client.ts'

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index} ä\n`).join('')

test('followed output is complete over disconnects and a further attempt', async (t) => {
  const { server, jobcast } = await openClient(t)
  const device = await newDevice(server, 'a')
  await jobcast.jobs.put('restart', { retry: { max: 1, backoffSeconds: 0 } })
  const { executions } = await jobcast.trigger({ jobName: 'restart', deviceIds: ['a'] })
  const id = executions[0]?.jobExecutionId ?? 0
  const first = lines(50)
  await device.startNext()
  await device.output(id, 0, first)
  const proxy = await openCuttingProxy(t, server.http)
  // Some in the headers, most in the bytes; those in between are not cut.
  proxy.cutNext(100, 420, 600, 700, 500, 800)
  const output = await clientOf(server, { url: proxy.url }).executions.output(id, { follow: true })
  assert.equal(output.attempt, 1)
  assert.equal(output.length, new TextEncoder().encode(first).length)
  const decoder = new TextDecoder()
  let text = ''
  let step = 0
  for await (const piece of output) {
    text += decoder.decode(piece, { stream: true })
    if (step === 0 && text === first) {
      step = 1
      proxy.cutNext(450, 450)
      await device.update(id, 'FAILED')
      await waitUntil('the next attempt starts', async () => (await device.startNext()).json.execution)
      await device.output(id, 0, 'second')
    }
    if (step === 1 && text.endsWith('second')) {
      step = 2
      await device.update(id, 'SUCCEEDED')
    }
  }
  assert.equal(text, `${first}\n[jobcast: attempt 2]\nsecond`)
  assert.ok(proxy.connections > 6)
})

test('output truncated by the service has the note once, wherever the connection is cut', async (t) => {
  const { server, jobcast } = await openClient(t, { maxOutputBytes: 100 })
  const device = await newDevice(server, 'a')
  await jobcast.jobs.put('restart')
  const { executions } = await jobcast.trigger({ jobName: 'restart', deviceIds: ['a'] })
  const id = executions[0]?.jobExecutionId ?? 0
  await device.startNext()
  await device.output(id, 0, lines(50))
  await device.update(id, 'SUCCEEDED')
  const whole = await (await jobcast.executions.output(id)).text()
  assert.match(whole, /\n\[jobcast: output cut after 100 bytes\]\n$/)
  const proxy = await openCuttingProxy(t, server.http)
  const client = clientOf(server, { url: proxy.url, maxRetries: 10 })
  for (const follow of [false, true]) {
    for (let bytes = 330; bytes < 560; bytes += 23) {
      proxy.cutNext(bytes, bytes)
      assert.equal(await (await client.executions.output(id, { follow })).text(), whole)
    }
  }
})

test('one attempt can be requested, from an offset on; an unknown execution is J-302', async (t) => {
  const { server, jobcast } = await openClient(t)
  const device = await newDevice(server, 'a')
  await jobcast.jobs.put('restart', { retry: { max: 1, backoffSeconds: 0 } })
  const { executions } = await jobcast.trigger({ jobName: 'restart', deviceIds: ['a'] })
  const id = executions[0]?.jobExecutionId ?? 0
  await device.startNext()
  await device.output(id, 0, 'the first')
  await device.update(id, 'FAILED')
  const output = await jobcast.executions.output(id, { attempt: 1, offset: 4, follow: true })
  assert.equal(await output.text(), 'first')
  await assert.rejects(jobcast.executions.output(99), (error) => isJobcastError(error, 'J-302'))
})
