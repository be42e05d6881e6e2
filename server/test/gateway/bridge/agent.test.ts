// Our agent on the user's broker, under another prefix, with a password of the broker.

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { runAgent } from '@jobcast/agent'
import { withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { openBridged } from './bridge-under-test.ts'

test('the agent carries out an execution over the broker', { skip: withoutMosquitto }, async (t) => {
  const prefix = 'jobcast/things'
  const rules = ['user jobcast', `topic ${prefix}/#`, `pattern readwrite ${prefix}/%u/#`]
  const users = { jobcast: 'secret', d1: 'of the broker' }
  const signIn = { user: 'jobcast', password: 'secret', prefix }
  const server = await openBridged(t, signIn, {}, { acl: rules, users })
  await server.putJobAndDevices('other', ['d1'])
  const document = { command: ['sh', '-c', 'echo over the broker'] }
  assert.equal((await server.call('PUT', '/job/api/jobs/hello', { body: { document } })).status, 201)

  const folder = temporaryFolder(t)
  const tokenFile = join(folder, 'password')
  writeFileSync(tokenFile, 'of the broker\n', { mode: 0o600 })
  const signals = new EventEmitter()
  const [stdout, stderr] = [new PassThrough().resume(), new PassThrough().resume()]
  const flags = { broker: server.broker.url, brokerPrefix: prefix, device: 'd1', tokenFile, handlers: folder }
  const running = runAgent(
    { stdout, stderr, env: process.env, signals },
    { ...flags, state: join(folder, 'state'), allowCommands: true },
  )
  t.after(async () => {
    signals.emit('SIGTERM')
    assert.equal(await running, 0)
  })
  const { json } = await server.trigger('hello', ['d1'])
  const [{ jobExecutionId }] = [json].flat()
  const path = `/job/api/executions/${jobExecutionId}`
  await waitUntil('it has ended', async () => (await server.call('GET', path)).json.execState === 'SUCCEEDED')
  assert.equal((await server.call('GET', `${path}/output`)).text, 'over the broker\n')
})
