import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { certificates } from '@jobcast/testkit/certificates'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { openTlsServer } from '@jobcast/testkit/open-tls-server'
import { dataFolder, runJobcast } from './run-jobcast.ts'
import { spawnJobcast } from './spawn-jobcast.ts'

// It makes this process trust its certificates; the files that run after this one in the same process must not.
const trustedBefore = getCACertificates('default')
after(() => setDefaultCACertificates(trustedBefore))
const server = await openTlsServer()
const trusting = { NODE_EXTRA_CA_CERTS: certificates.ca }

/** A device with a token file and a handler that prints its environment. */
async function prepareDevice(t: TestContext, deviceId: string) {
  const folder = dataFolder(t)
  const handlers = join(folder, 'handlers')
  mkdirSync(handlers, { mode: 0o755 })
  writeFileSync(join(handlers, 'greet'), '#!/bin/sh\nenv | grep -c TOKEN\n')
  chmodSync(join(handlers, 'greet'), 0o755)
  await server.call('PUT', `/job/api/devices/${deviceId}`, { body: {} })
  const { deviceToken } = (await server.call('POST', `/job/api/devices/${deviceId}/credential`)).json
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, `${deviceToken}\n`, { mode: 0o600 })
  const flags = ['agent', '--server', server.http, '--device', deviceId, '--handlers', handlers]
  return { deviceToken, tokenFile, flags: [...flags, '--state', join(folder, 'state')] }
}

async function triggerAndWait(deviceId: string) {
  await server.call('PUT', '/job/api/jobs/greet', { body: { document: { handler: 'greet' } } })
  const [{ jobExecutionId }] = (await server.trigger('greet', [deviceId])).json
  const { json } = await server.call('GET', `/job/api/executions/${jobExecutionId}?wait=60`)
  const { text } = await server.call('GET', `/job/api/executions/${jobExecutionId}/output`)
  return { execState: json.execState, output: text }
}

/** The agent warns if it can write to its handlers, as it can where tests do not run as root. */
const ownHandlers = /^Warning: the agent's own user can write to .*\n/

const transports: Record<string, string[]> = {
  'a secure WebSocket': [],
  'MQTT over TLS': ['--mqtt', server.server.mqtt],
  HTTPS: ['--http'],
}

for (const [way, more] of Object.entries(transports)) {
  // The agent's own tests try every transport.
  const tested = more.length === 0 ? test : chaosTest
  tested(`jobcast agent carries out executions over ${way}, and exits with 0`, async (t: TestContext) => {
    const deviceId = `cli-${way.replaceAll(' ', '-')}`
    const { flags, tokenFile } = await prepareDevice(t, deviceId)
    const agent = spawnJobcast(t, [...flags, '--token-file', tokenFile, ...more], trusting)
    // grep finds no token, prints 0 and exits with 1.
    assert.deepEqual(await triggerAndWait(deviceId), { execState: 'FAILED', output: '0\n' })
    await agent.until(/reported as FAILED/)
    assert.equal(await agent.end('SIGTERM'), 0)
    assert.equal(agent.stderr().replace(ownHandlers, ''), '')
  })
}

chaosTest('the token can come from the environment, and handlers do not inherit it', async (t) => {
  const { flags, deviceToken } = await prepareDevice(t, 'cli-environment')
  const agent = spawnJobcast(t, flags, { ...trusting, JOBCAST_DEVICE_TOKEN: deviceToken })
  assert.deepEqual(await triggerAndWait('cli-environment'), { execState: 'FAILED', output: '0\n' })
  assert.equal(await agent.end('SIGINT'), 0)
  assert.doesNotMatch(agent.stdout() + agent.stderr(), new RegExp(deviceToken))
})

test('the token is not sent to an untrusted server, and the agent says why it is not connected', async (t) => {
  const { flags, tokenFile } = await prepareDevice(t, 'cli-distrust')
  const agent = spawnJobcast(t, [...flags, '--token-file', tokenFile])
  const [line] = await agent.until(/no connection to wss:.*/)
  assert.match(line, /certificate/)
  assert.equal(await agent.end('SIGTERM'), 0)
})

test('https on a port without TLS says so in the log of the agent', async (t) => {
  const { flags, tokenFile } = await prepareDevice(t, 'cli-plain')
  const plain = createServer().listen(0, '127.0.0.1')
  t.after(() => plain.close())
  await once(plain, 'listening')
  const url = `https://127.0.0.1:${(plain.address() as AddressInfo).port}`
  for (const more of [[], ['--http']]) {
    const agent = spawnJobcast(t, [...flags, '--server', url, '--token-file', tokenFile, ...more])
    const [line] = await agent.until(/no connection to .*/)
    assert.match(line, /: this port does not use TLS; use an address with http: instead of https:/)
    assert.equal(await agent.end('SIGTERM'), 0)
  }
})

test('all problems with the flags are reported together; a token file readable by others is one', async (t) => {
  const { flags, tokenFile } = await prepareDevice(t, 'cli-refused')
  const none = await runJobcast(['agent', '--server', 'jobs.example'])
  assert.equal(none.code, 2)
  for (const word of ['"jobs.example" is not an address', '--device', '--handlers', '--token-file']) {
    assert.match(none.stderr, new RegExp(`^ {2}- ${word}`, 'm'))
  }
  chmodSync(tokenFile, 0o644)
  const open = await runJobcast([...flags, '--token-file', tokenFile, '--http', '--mqtt', 'mqtt://host'])
  assert.deepEqual([open.code, open.stdout], [2, ''])
  assert.match(open.stderr, /others can read the token file .*chmod 600/)
  assert.match(open.stderr, /--mqtt and --http cannot be used together/)
  const untrusted = await runJobcast([...flags, '--require-signatures', '0'])
  assert.match(untrusted.stderr, /--require-signatures must be a positive integer/)
  const unnamed = await runJobcast([...flags, '--require-signature'])
  assert.match(unnamed.stderr, /--trust must name the file of the keys that are trusted/)
})

test('exits with 2 if a file or folder is missing', async (t) => {
  const { flags, tokenFile } = await prepareDevice(t, 'cli-missing')
  const noToken = await runJobcast([...flags, '--token-file', `${tokenFile}.none`])
  assert.deepEqual(
    [noToken.code, /there is no token file .*\.none: create it/.test(noToken.stderr)],
    [2, true],
    noToken.stderr,
  )
  const noHandlers = await runJobcast([...flags, '--token-file', tokenFile, '--handlers', '/no/such'])
  assert.equal(noHandlers.code, 2, noHandlers.stderr)
  assert.match(noHandlers.stderr, /The handlers folder \/no\/such does not exist\. .*--handlers/)
  const noFolder = await runJobcast([...flags, '--token-file', tokenFile, '--handlers', tokenFile])
  assert.match(noFolder.stderr, /is not a folder\. .*--handlers/)
  const noState = await runJobcast([...flags, '--token-file', tokenFile, '--state', tokenFile])
  assert.equal(noState.code, 2, noState.stderr)
  assert.match(noState.stderr, /The state folder .* cannot be created: file already exists\. .*--state/)
})
