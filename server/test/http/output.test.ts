// The output of an execution: read, followed, cut, downloaded.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { assertRefused } from './assert-reply.ts'

const maxOutputBytes = 300_000
const api = await openSharedServer({ maxOutputBytes })
await api.putJobAndDevices('update', [])
let devices = 0

const output = (id: unknown, query = '') => api.call('GET', `/job/api/executions/${id}/output${query}`)

/** A device that works on an execution. */
async function startOne(jobName = 'update') {
  const device = await newDevice(api, `d${++devices}`)
  const [{ jobExecutionId: id }] = (await api.trigger(jobName, [device.deviceId])).json
  await device.startNext()
  return { device, id: id as number }
}

test('GET answers 200 with the bytes as text that no browser takes for anything else', async () => {
  const { device, id } = await startOne()
  await device.output(id, 0, 'Grüße\n<script>')
  const reply = await output(id)
  assert.equal(reply.status, 200)
  assert.equal(reply.text, 'Grüße\n<script>')
  assert.deepEqual(
    ['content-type', 'x-content-type-options', 'cache-control', 'x-output-length', 'x-output-attempt'].map(
      (name) => reply.headers.get(name),
    ),
    ['text/plain; charset=utf-8', 'nosniff', 'no-store', '16', '1'],
  )
  assert.equal(reply.headers.get('content-disposition'), null)
  const { outputBytes, outputCut } = (await api.call('GET', `/job/api/executions/${id}`)).json
  assert.deepEqual([outputBytes, outputCut], [16, false])
})

test('?download=true makes it a file', async () => {
  const { id } = await startOne()
  const reply = await output(id, '?download=true')
  assert.equal(reply.headers.get('content-disposition'), `attachment; filename="execution-${id}.log"`)
  assert.equal(reply.text, '')
})

test('?offset= leaves out what lies before it; beyond the end there is nothing', async () => {
  const { device, id } = await startOne()
  await device.output(id, 0, '0123456789')
  assert.equal((await output(id, '?offset=4')).text, '456789')
  for (const offset of [10, 11, Number.MAX_SAFE_INTEGER]) {
    const reply = await output(id, `?offset=${offset}`)
    assert.deepEqual([reply.status, reply.text, reply.headers.get('x-output-length')], [200, '', '10'])
  }
})

test('what is longer than a slice comes whole, byte by byte as it was written', async () => {
  const { device, id } = await startOne()
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251))
  for (const offset of [0, 100_000]) {
    await device.call('POST', `/${id}/output?offset=${offset}`, bytes)
  }
  const response = await fetch(`${api.http}/job/api/executions/${id}/output`, {
    headers: { 'x-api-key': api.adminKey },
  })
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), Buffer.concat([bytes, bytes]))
})

test('output over the limit is cut, and the last line says so', async () => {
  const { device, id } = await startOne()
  const part = 'x'.repeat(100_000)
  for (let offset = 0; offset <= 300_000; offset += 100_000) await device.output(id, offset, part)
  const { text } = await output(id)
  assert.equal(text, `${'x'.repeat(300_000)}\n[jobcast: output cut after 300000 bytes]\n`)
  assert.equal((await api.call('GET', `/job/api/executions/${id}`)).json.outputCut, true)
})

test('?follow=true brings what is written while it is, and ends with the execution', async () => {
  const { device, id } = await startOne()
  await device.output(id, 0, 'one\n')
  const response = await fetch(`${api.http}/job/api/executions/${id}/output?follow=true`, {
    headers: { 'x-api-key': api.adminKey },
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  assert.ok(reader)
  assert.equal((await reader.read()).value, 'one\n')
  await device.output(id, 4, 'two\n')
  assert.equal((await reader.read()).value, 'two\n')
  await device.output(id, 8, 'three\n')
  await device.update(id, 'SUCCEEDED')
  assert.equal((await reader.read()).value, 'three\n')
  assert.equal((await reader.read()).done, true)
})

test('?follow=true continues with the next attempt; ?attempt= reads an older one', async () => {
  await api.call('PUT', '/job/api/jobs/retried', { body: { retry: { max: 1, backoffSeconds: 0 } } })
  const { device, id } = await startOne('retried')
  const following = output(id, '?follow=true')
  await device.output(id, 0, 'first')
  await device.update(id, 'FAILED')
  // The clocks of the server look every second.
  await waitUntil('it is offered again', async () => (await device.startNext()).json.execution !== undefined)
  await device.output(id, 0, 'second')
  await device.update(id, 'SUCCEEDED')
  const { text } = await following
  assert.match(text, /^(?:first)?\n\[jobcast: attempt 2\]\nsecond$/)
  assert.equal((await output(id)).text, 'second')
  assert.equal((await output(id, '?attempt=1')).text, 'first')
  assert.equal((await output(id, '?attempt=1&offset=2&follow=true')).text, 'rst')
})

test('a follower is answered before there is output; one that disconnects affects no other', async () => {
  const { device, id } = await startOne()
  const leaving = new AbortController()
  const address = `${api.http}/job/api/executions/${id}/output?follow=true`
  const headers = { 'x-api-key': api.adminKey }
  assert.equal((await fetch(address, { headers, signal: leaving.signal })).status, 200)
  leaving.abort()
  const followers = Array.from({ length: 100 }, () => output(id, '?follow=true'))
  await device.output(id, 0, 'all of it')
  await device.update(id, 'FAILED')
  for (const { text } of await Promise.all(followers)) assert.equal(text, 'all of it')
})

test('a follower gets the end of the answer when the service stops', { timeout: 50_000 }, async (t) => {
  const stopping = await openServer(t)
  await stopping.putJobAndDevices('update', [])
  const device = await newDevice(stopping, 'd1')
  const [{ jobExecutionId: id }] = (await stopping.trigger('update', ['d1'])).json
  await device.output(id, 0, 'so far')
  const response = await fetch(`${stopping.http}/job/api/executions/${id}/output?follow=true`, {
    headers: { 'x-api-key': stopping.adminKey },
  })
  const [text] = await Promise.all([response.text(), stopping.server.stop()])
  assert.equal(text, 'so far')
})

test('HEAD answers at once, also with follow', { timeout: 50_000 }, async () => {
  const { device, id } = await startOne()
  await device.output(id, 0, 'abc')
  const reply = await api.call('HEAD', `/job/api/executions/${id}/output?follow=true`)
  assert.deepEqual([reply.status, reply.text, reply.headers.get('x-output-length')], [200, '', '3'])
})

for (const query of ['offset=-1', 'offset=x', 'follow=yes', 'follow=1', 'follow=', 'attempt=0', 'from=1']) {
  test(`answers J-500 to ?${query}`, async () => {
    assertRefused(await output(1, `?${query}`), 'J-500')
  })
}

test('answers J-302 for an execution that does not exist, also with follow', async () => {
  assertRefused(await output(999_999_999), 'J-302')
  assertRefused(await output(999_999_999, '?follow=true'), 'J-302')
  assertRefused(await output(999_999_999, '?attempt=1&follow=true'), 'J-302')
})
