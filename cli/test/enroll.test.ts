import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { dataFolder, runJobcast, startJobcast } from './run-jobcast.ts'

const server = await openSharedServer()

async function newEnrollment(body: object = {}): Promise<string> {
  const reply = await server.call('POST', '/job/api/enrollments', { body })
  assert.equal(reply.status, 201, reply.text)
  return reply.json.enrollmentToken
}

const enroll = (deviceId: string, tokenFile: string, token: string, url = server.http) =>
  runJobcast(['agent', 'enroll', '--server', url, '--device', deviceId, '--token-file', tokenFile], {
    JOBCAST_ENROLLMENT_TOKEN: token,
  })

test('a device enrolls once, stores its token privately, and its agent carries out executions', async (t) => {
  const folder = dataFolder(t)
  const tokenFile = join(folder, 'token')
  const enrollment = await newEnrollment({ tags: ['new'] })
  const first = await enroll('enrolled-1', tokenFile, enrollment)
  assert.equal(first.code, 0, first.stderr)
  assert.equal(statSync(tokenFile).mode & 0o777, 0o600)
  assert.equal(existsSync(`${tokenFile}.claim`), false)
  assert.doesNotMatch(first.stdout + first.stderr, /j[de]_/)
  const device = (await server.call('GET', '/job/api/devices/enrolled-1')).json
  assert.deepEqual(device.tags, ['new'])

  const handlers = join(folder, 'handlers')
  mkdirSync(handlers, { mode: 0o755 })
  writeFileSync(join(handlers, 'hello'), '#!/bin/sh\necho hello\n')
  chmodSync(join(handlers, 'hello'), 0o755)
  const flags = ['--device', 'enrolled-1', '--token-file', tokenFile, '--handlers', handlers]
  startJobcast(t, ['agent', '--server', server.http, ...flags, '--state', join(folder, 'state')])
  await server.call('PUT', '/job/api/jobs/hello', { body: { document: { handler: 'hello' } } })
  const [{ jobExecutionId }] = (await server.trigger('hello', ['enrolled-1'])).json
  const ended = await server.call('GET', `/job/api/executions/${jobExecutionId}?wait=60`)
  assert.equal(ended.json.execState, 'SUCCEEDED')
})

test('warns of a file with an enrollment token that others can read', async (t) => {
  const folder = dataFolder(t)
  const file = join(folder, 'enrollment-token')
  writeFileSync(file, await newEnrollment({ maxUses: 2 }))
  for (const [mode, device] of [
    [0o644, 'enrolled-open'],
    [0o600, 'enrolled-private'],
  ] as const) {
    chmodSync(file, mode)
    const flags = ['--url', server.http, '--device', device, '--token-file', join(folder, device)]
    const { code, stderr } = await runJobcast(['agent', 'enroll', ...flags, '--enrollment-token-file', file])
    assert.equal(code, 0, stderr)
    assert.equal(
      /^Warning: others can read the enrollment token in .*: chmod 600/.test(stderr),
      mode === 0o644,
    )
  }
})

test('explains in one sentence an exhausted enrollment token and an existing token file', async (t) => {
  const folder = dataFolder(t)
  const enrollment = await newEnrollment()
  const [one, two] = [join(folder, 'one'), join(folder, 'two')]
  assert.equal((await enroll('enrolled-2', one, enrollment)).code, 0)
  const usedUp = await enroll('enrolled-3', two, enrollment)
  assert.equal(usedUp.code, 1)
  assert.match(usedUp.stderr, /wrong, expired, revoked or used up/)
  const again = await enroll('enrolled-2', one, enrollment)
  assert.match(again.stderr, /a token already exists in .*one$/m)
  assert.equal((await runJobcast(['agent', 'enroll', '--server', server.http])).code, 2)
  const flags = ['--server', server.http, '--device', 'x', '--token-file', two]
  const noFile = await runJobcast(['agent', 'enroll', ...flags, '--enrollment-token-file', '/no/such'])
  assert.equal(noFile.code, 2)
  assert.match(
    noFile.stderr,
    /the enrollment token file \/no\/such cannot be read: no such file or directory/,
  )
  const unwritable = await enroll('enrolled-3', join(folder, 'no', 'token'), enrollment)
  assert.match(unwritable.stderr, /the token file .* cannot be written: no such file or directory/)
})

test('a lost response does not use up the enrollment: the retry gets a token', async (t) => {
  const folder = dataFolder(t)
  const tokenFile = join(folder, 'token')
  const enrollment = await newEnrollment({ maxUses: 1 })
  // Forwards requests to the server, and drops the first response.
  let lost = 0
  const proxy = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const { authorization = '' } = request.headers
    const answer = await fetch(server.http + request.url, {
      method: 'POST',
      headers: { authorization },
      body,
    })
    if (lost++ === 0) response.destroy()
    else response.writeHead(answer.status).end(await answer.text())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => proxy.close())
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const finished = await enroll('enrolled-4', tokenFile, enrollment, url)
  assert.equal(finished.code, 0, finished.stderr)
  assert.equal(lost, 2)
  const token = readFileSync(tokenFile, 'utf8').trim()
  const reply = await fetch(`${server.http}/things/enrolled-4/jobs`, {
    headers: { authorization: `Bearer ${token}` },
  })
  assert.equal(reply.status, 200)
})

test('does not send the enrollment token to a redirect', async (t) => {
  const asked: (string | undefined)[] = []
  const stranger = createServer((request, response) => {
    asked.push(request.url)
    response.writeHead(307, { location: '/elsewhere' }).end()
  }).listen(0, '127.0.0.1')
  await once(stranger, 'listening')
  t.after(() => stranger.close())
  const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
  const tokenFile = join(dataFolder(t), 'token')
  const { code, stderr } = await enroll('enrolled-5', tokenFile, await newEnrollment(), url)
  assert.equal(code, 1)
  assert.match(stderr, /307/)
  assert.deepEqual(asked, ['/things/enrolled-5/enroll'])
  assert.equal(existsSync(tokenFile), false)
})
