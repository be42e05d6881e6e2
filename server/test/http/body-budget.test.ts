// Incomplete bodies are limited in bytes per key, per owner and in total; other callers are not refused.

import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ApiError } from '@jobcast/contract'
import { newDevice } from '@jobcast/testkit/call-device'
import { type OpenServer, openServer } from '@jobcast/testkit/open-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { noQuotas, type Quotas } from '../../src/domain/access/quotas.ts'
import { BodyBudget } from '../../src/limits/body-budget.ts'

const open = (t: TestContext, quotas: Partial<Quotas>) =>
  openServer(t, { quotas: { ...noQuotas, ...quotas } })

const path = '/job/api/jobs/execute'
const kilobytes = (count: number) => 'x'.repeat(count * 1024)

/** The body is never finished. `answered`: the first bytes of the answer. */
function sendHalf(api: OpenServer, key: string, sent: string, announced = 'content-length: 900000') {
  const socket = connect(Number(new URL(api.http).port), '127.0.0.1')
  let text = ''
  const answered = new Promise<string>((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk
      resolve(text)
    })
    socket.on('error', () => resolve(text))
    socket.on('close', () => resolve(text))
  })
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n`
  socket.write(`${head}${announced}\r\n\r\n${sent}`)
  return { socket, answered }
}

async function heldBytes(api: OpenServer): Promise<number> {
  const { text } = await api.call('GET', '/metrics')
  return Number(/^jobcast_unfinished_body_bytes (\d+)$/m.exec(text)?.[1])
}

const large = (api: OpenServer, key: string) => {
  const deviceIds = Array.from({ length: 8000 }, (_, index) => `device-${index}`)
  return api.call('POST', path, { key, body: { jobName: 'none', deviceIds } })
}

test('half-sent bodies of a key are refused beyond its budget; its others and those of others are not', async (t) => {
  const api = await open(t, { 'key-body-bytes': 200 * 1024 })
  const { apiKey } = await api.newKey(['TRIGGER'])
  const { key: other } = await api.newOwner('other')
  const first = sendHalf(api, apiKey, kilobytes(150))
  const refused = await Promise.race([sendHalf(api, apiKey, kilobytes(150)).answered, first.answered])
  assert.match(refused, /^HTTP\/1\.1 429 .*\r\nretry-after: 1\r\n.*\{"code":"J-911"/is)
  assert.match(refused, /connection: close/i)
  assert.equal(
    (await api.call('POST', path, { key: apiKey, body: { jobName: 'none', deviceIds: ['d'] } })).status,
    404,
  )
  assert.equal((await large(api, other)).status, 404)
  first.socket.destroy()
  await waitUntil('there is room again', async () => (await large(api, apiKey)).status === 404)
})

test('many small half-sent bodies count as they are announced', async (t) => {
  const api = await open(t, { 'body-bytes': 100 * 1024 })
  const sockets: Socket[] = []
  const answers = Array.from({ length: 5 }, () => {
    const { socket, answered } = sendHalf(api, api.adminKey, '{', 'content-length: 30000')
    sockets.push(socket)
    return answered
  })
  const refused = await Promise.race(answers)
  for (const socket of sockets) socket.destroy()
  assert.match(refused, /^HTTP\/1\.1 429 /)
})

test('a device is refused in the words of its protocol, and chunked bodies count as well', async (t) => {
  const api = await open(t, { 'body-bytes': 100 * 1024 })
  const { deviceId, token } = await newDevice(api, 'd1')
  const half = sendHalf(
    api,
    api.adminKey,
    `${(95 * 1024).toString(16)}\r\n${kilobytes(95)}`,
    'transfer-encoding: chunked',
  )
  const report = () =>
    fetch(`${api.http}/things/${deviceId}/jobs/1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ status: 'SUCCEEDED', statusDetails: { text: kilobytes(30) } }),
    })
  await waitUntil('the device is refused', async () => (await report()).status === 429)
  const refused = await report()
  half.socket.destroy()
  assert.equal(refused.headers.get('x-amzn-errortype'), 'ThrottlingException')
  assert.equal(refused.headers.get('retry-after'), '1')
})

test('what was counted is gone once bodies are read, refused or given up', async (t) => {
  const api = await open(t, { 'key-body-bytes': 2_000_000 })
  await large(api, api.adminKey)
  await api.call('POST', path, { body: { jobName: 'none', deviceIds: ['d'] } })
  await api.call('POST', path, { body: 'x'.repeat(70_000) })
  const lines = Array.from({ length: 2000 }, (_, index) => JSON.stringify({ deviceId: `d${index}` })).join(
    '\n',
  )
  const headers = { 'x-api-key': api.adminKey, 'content-type': 'application/x-ndjson' }
  const imported = await fetch(`${api.http}/job/api/devices/import`, { method: 'POST', headers, body: lines })
  assert.equal(imported.status, 200)
  const halves = [kilobytes(10), kilobytes(300)].map((sent) => sendHalf(api, api.adminKey, sent))
  await waitUntil('both count', async () => (await heldBytes(api)) >= 310 * 1024)
  for (const { socket } of halves) socket.destroy()
  await waitUntil('nothing is held', async () => (await heldBytes(api)) === 0)
})

test('the budget of all refuses large bodies only, and a single body may have any size', () => {
  const bodies = new BodyBudget({ ...noQuotas, 'key-body-bytes': 1000, 'node-body-bytes': 100_000 })
  const refusal = (code: string) => (error: unknown) => error instanceof ApiError && error.code === code
  const one = bodies.hold({ key: 'a', owner: '1' })
  one.add(90_000)
  assert.throws(() => bodies.hold({ key: 'a', owner: '1' }).add(1), refusal('J-911'))
  bodies.hold({ key: 'b', owner: '2' }).add(16 * 1024)
  assert.throws(() => bodies.hold({ key: 'c', owner: '2' }).add(20_000), refusal('J-908'))
  one.subtract(50_000)
  one.release()
  one.release()
  one.add(5)
  assert.equal(bodies.heldBytes, 16 * 1024)
})
