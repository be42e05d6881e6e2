// Output of a device over HTTP: each byte once, in order.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'

const api = await openSharedServer({ maxOutputBytes: 1000 })
await api.putJobAndDevices('update', [])
const device = await newDevice(api, 'd1')

async function start(): Promise<number> {
  const [{ jobExecutionId }] = (await api.trigger('update', ['d1'])).json
  await device.startNext()
  return jobExecutionId
}
const kept = async (id: number) => (await api.call('GET', `/job/api/executions/${id}/output`)).text
const end = (id: number) => device.update(id, 'SUCCEEDED')

test('JSON with a text, or with bytes in base64, is added, and the answer says where the next belong', async () => {
  const id = await start()
  const first = await device.call('POST', `/${id}/output`, { offset: 0, data: 'Grüße ' })
  assert.equal(first.status, 200)
  const { timestamp, ...rest } = first.json
  assert.deepEqual(rest, { offset: 8 })
  assert.ok(Math.abs(timestamp - Date.now() / 1000) < 60)
  const bytes = { offset: '8', data: btoa('all'), encoding: 'base64', clientToken: 'mine' }
  const second = await device.call('POST', `/${id}/output`, bytes)
  assert.deepEqual([second.json.offset, second.json.clientToken], [11, 'mine'])
  assert.equal(await kept(id), 'Grüße all')
  await end(id)
})

test('bytes as they are, with the offset in the query, under any type but JSON', async () => {
  const id = await start()
  const types = ['application/octet-stream', 'text/plain', 'application/x-www-form-urlencoded']
  for (const [index, type] of types.entries()) {
    const headers = { 'content-type': type }
    const path = `/${id}/output?offset=${index * 3}&executionNumber=1`
    assert.equal((await device.call('POST', path, '{a}', { headers })).json.offset, index * 3 + 3)
  }
  assert.equal(await kept(id), '{a}{a}{a}')
  await end(id)
})

test('what was sent before is dropped, byte by byte', async () => {
  const id = await start()
  await device.output(id, 0, 'abc')
  assert.equal((await device.output(id, 0, 'abc')).json.offset, 3)
  assert.equal((await device.output(id, 1, 'bcdef')).json.offset, 6)
  assert.equal(await kept(id), 'abcdef')
  await end(id)
})

test('a gap is 409 OffsetMismatchException with the offset that is wanted, and nothing is kept', async () => {
  const id = await start()
  await device.output(id, 0, 'abc')
  const reply = await device.output(id, 5, 'x')
  assert.equal(reply.status, 409)
  assert.equal(reply.headers.get('x-amzn-errortype'), 'OffsetMismatchException')
  assert.equal(reply.json.offset, 3)
  assert.match(reply.json.message, /must be 3/)
  assert.equal(await kept(id), 'abc')
  await end(id)
})

test('over the limit it is cut, told with every answer, and no error', async () => {
  const id = await start()
  const long = await device.output(id, 0, 'x'.repeat(1001))
  assert.deepEqual([long.status, long.json.offset, long.json.cut], [200, 1000, true])
  assert.deepEqual((await device.output(id, 1001, 'y')).json.cut, true)
  assert.match(await kept(id), /^x{1000}\n\[jobcast: output cut after 1000 bytes\]\n$/)
  await end(id)
})

test('output is welcome until the execution has ended, and from its own device only', async () => {
  const [{ jobExecutionId: id }] = (await api.trigger('update', ['d1'])).json
  assert.equal((await device.output(id, 0, 'x')).status, 200)
  const other = await newDevice(api, 'd2')
  const foreign = await other.output(id, 1, 'x')
  assert.equal(foreign.headers.get('x-amzn-errortype'), 'ResourceNotFoundException')
  await end(id)
  const late = await device.output(id, 1, 'x')
  assert.deepEqual([late.status, late.json.executionState.status], [409, 'SUCCEEDED'])
})

for (const body of [
  {},
  { offset: 0 },
  { data: 'x' },
  { offset: -1, data: 'x' },
  { offset: 0, data: 'x', encoding: 'gzip' },
]) {
  test(`answers 400 to ${JSON.stringify(body)}`, async () => {
    const reply = await device.call('POST', '/1/output', body)
    assert.deepEqual([reply.status, reply.headers.get('x-amzn-errortype')], [400, 'InvalidRequestException'])
  })
}
