// jobcast api: any call, with the address and the key of the profile.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { openTerminal } from './open-terminal.ts'
import { dataFolder, runJobcast, startJobcast } from './run-jobcast.ts'

const server = await openSharedServer()
const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: server.adminKey }
const api = (args: string[], input = '') => runJobcast(['api', ...args], access, input)

test('takes the body from the flag, a file or standard input, and prints the response unchanged', async (t) => {
  const file = join(dataFolder(t), 'device.json')
  writeFileSync(file, '{"deviceName":"From a file"}')
  for (const [data, input, name] of [
    ['{"deviceName":"From a flag"}', '', 'From a flag'],
    [`@${file}`, '', 'From a file'],
    ['-', '{"deviceName":"From a pipe"}', 'From a pipe'],
  ] as const) {
    const put = await api(['put', '/job/api/devices/api-1', '-d', data], input)
    assert.deepEqual([put.code, put.stderr], [0, ''])
    const get = await api(['GET', '/job/api/devices/api-1'])
    assert.equal(JSON.parse(get.stdout).deviceName, name)
    assert.equal(get.stdout, (await server.call('GET', '/job/api/devices/api-1')).text)
  }
  const gone = await api(['DELETE', '/job/api/devices/api-1'])
  assert.deepEqual([gone.code, gone.stdout], [0, ''])
})

test('sends headers; prints an error response, names its status on standard error, and derives the exit code', async () => {
  await server.putJobAndDevices('api', ['api-2'])
  const body = JSON.stringify({ jobName: 'api', deviceIds: ['api-2'] })
  const trigger = () => api(['POST', '/job/api/jobs/execute', '-d', body, '-H', 'Idempotency-Key: api-once'])
  assert.equal((await trigger()).stdout, (await trigger()).stdout)
  const missing = await api(['GET', '/job/api/jobs/none'])
  assert.deepEqual([missing.code, missing.stderr], [4, 'HTTP 404\n'])
  assert.equal(JSON.parse(missing.stdout).code, 'J-301')
  const { apiKey } = await server.newKey(['READ'])
  const refused = await runJobcast(['api', 'PUT', '/job/api/jobs/x', '-d', '{}'], {
    ...access,
    JOBCAST_API_KEY: apiKey,
  })
  assert.equal(refused.code, 3)
  const unreachable = await runJobcast(['api', 'GET', '/x'], { ...access, JOBCAST_URL: 'http://127.0.0.1:9' })
  assert.equal(unreachable.code, 8)
  assert.match(unreachable.stderr, /^jobcast: no response from http:/)
})

test('exits with 2 for an invalid method, path or header, and for a missing file', async () => {
  for (const [args, text] of [
    [['FETCH', '/x'], /Allowed choices are GET, POST, PUT, PATCH, DELETE/],
    [['GET', 'http://elsewhere/x'], /It must be a path/],
    [['GET', '/x', '-H', 'X-API-Key: other'], /the key comes from the profile/],
    [['PUT', '/x', '-d', '@/no/such'], /cannot read \/no\/such: no such file or directory\n/],
  ] as const) {
    const { code, stderr } = await api([...args])
    assert.equal(code, 2)
    assert.match(stderr, text)
  }
})

test('at a terminal the response ends with a newline', async (t) => {
  await server.putJobAndDevices('newline', ['newline-1'])
  const terminal = openTerminal(t, ['api', 'GET', '/job/api/devices/newline-1'], access)
  assert.equal(await terminal.ended, 0)
  assert.match(terminal.screen.raw, /^\{.*\}\r\n$/)
})

test('does not send the key to a redirect', async (t) => {
  const asked: (string | undefined)[] = []
  const other = createServer((request, response) => {
    asked.push(request.url)
    response.writeHead(307, { location: '/elsewhere' }).end()
  }).listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  const { code } = await runJobcast(['api', 'GET', '/job/api/jobs'], { ...access, JOBCAST_URL: url })
  assert.equal(code, 8)
  assert.deepEqual(asked, ['/job/api/jobs'])
})

test('prints a streamed response as it arrives, until Ctrl-C', async (t) => {
  const stream = startJobcast(t, ['api', 'GET', '/job/api/events'], access)
  await stream.until(/^retry: /)
  await server.putJobAndDevices('stream', ['stream-1'])
  await stream.until(/"type":"device\.created"/)
  assert.equal(await stream.end('SIGINT'), 130)
})
