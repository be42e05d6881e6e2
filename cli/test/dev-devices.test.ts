import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { doCurlLine } from './do-curl-line.ts'
import { dataFolder, type Started, startJobcast } from './run-jobcast.ts'

const fromFreePorts = ['dev', '--port', '0', '--mqtt-port', '0', '--log-level', 'error']
const online = /(\d) simulated devices are online/

function startDev(t: TestContext, data: string, ...more: string[]): Started {
  return startJobcast(t, [...fromFreePorts, '--data', data, ...more])
}

/** The printed call, and a function for further calls with its key. */
async function readWelcome(dev: Started) {
  const [trigger] = await dev.until(/^curl -i .*$/m)
  const [, http = '', apiKey = ''] = /(http\S+?)\/job.*X-API-Key: (\w+)/.exec(trigger) ?? []
  const call = async (method: string, path: string, body?: object) => {
    const headers = { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) }
    const response = await fetch(http + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    return JSON.parse(await response.text())
  }
  return { trigger, call }
}

test('dev shows one execution that succeeds, one that fails, and one that waits and says why', async (t) => {
  const dev = startDev(t, dataFolder(t))
  const { trigger, call } = await readWelcome(dev)
  assert.equal((await dev.until(online))[1], '7')
  const { status, text } = await doCurlLine(trigger)
  assert.equal(status, 201)
  assert.deepEqual(
    JSON.parse(text).map(({ deviceId }: { deviceId: string }) => deviceId),
    ['kiosk-1', 'kiosk-7', 'kiosk-8'],
  )
  await dev.until(/^\d\d:\d\d:\d\d {2}execution 1, restart on kiosk-1: IN_PROGRESS$/m)
  await dev.until(/^\d\d:\d\d:\d\d {2}execution 1, restart on kiosk-1: SUCCEEDED after \d+\.\d s$/m)
  await dev.until(/^\d\d:\d\d:\d\d {2}execution 2, restart on kiosk-7: FAILED after \d+\.\d s: \w.*$/m)
  assert.equal((await call('GET', '/job/api/executions/1')).execState, 'SUCCEEDED')
  assert.equal((await call('GET', '/job/api/executions/2')).execState, 'FAILED')
  for (const [line, expected] of [
    [/^curl http.*explain.*$/m, /kiosk-8 has never connected/],
    [/^curl -N .*output.*$/m, /^\[1\/5\] preparing\n/],
  ] as const) {
    const [printed] = await dev.until(line)
    assert.match((await doCurlLine(printed)).text, expected)
  }
  const [, url = '', key = '', words = ''] = await dev.until(
    /^JOBCAST_URL=(\S+) JOBCAST_API_KEY=(\S+) npx --no-install jobcast (.*)$/m,
  )
  const cli = startJobcast(t, words.split(' '), { JOBCAST_URL: url, JOBCAST_API_KEY: key })
  assert.equal(await cli.ended, 6)
  assert.match(cli.stderr(), /kiosk-7: FAILED: \w/)
  assert.equal(await dev.end('SIGINT'), 0)
  assert.equal(dev.stderr(), '')
})

chaosTest(
  'at the next start the sample devices come online again, except one that a user has taken over',
  async (t) => {
    const data = dataFolder(t)
    const first = startDev(t, data)
    const { call } = await readWelcome(first)
    await first.until(online)
    await call('POST', '/job/api/devices/kiosk-2/credential')
    await first.until(/kiosk-2 is no longer simulated/)
    await call('PUT', '/job/api/devices/kiosk-3', { tags: ['mine'] })
    const taken = (await call('GET', '/job/api/devices/kiosk-2')).credentialCreatedAt
    assert.equal(await first.end('SIGINT'), 0)

    const second = startDev(t, data)
    const { trigger, call: callAgain } = await readWelcome(second)
    assert.equal((await second.until(online))[1], '5')
    assert.equal((await doCurlLine(trigger)).status, 201)
    await second.until(/restart on kiosk-1: SUCCEEDED/)
    for (const deviceId of ['kiosk-2', 'kiosk-3']) {
      assert.equal((await callAgain('GET', `/job/api/devices/${deviceId}`)).online, false)
    }
    assert.equal((await callAgain('GET', '/job/api/devices/kiosk-2')).credentialCreatedAt, taken)
    assert.equal(await second.end('SIGINT'), 0)
  },
)

chaosTest(
  'dev --no-sim, and dev on a folder without simulated devices, leave the devices offline',
  async (t) => {
    const data = dataFolder(t)
    for (const flags of [['--no-sim'], []]) {
      const dev = startDev(t, data, ...flags)
      const { trigger, call } = await readWelcome(dev)
      assert.match(dev.stdout(), /stays PENDING until its device signs in/)
      assert.equal((await doCurlLine(trigger)).status, 201)
      assert.deepEqual((await call('GET', '/job/api/devices?online=true')).items, [])
      assert.equal(await dev.end('SIGINT'), 0)
      assert.doesNotMatch(dev.stdout(), online)
      rmSync(join(data, 'simulated-devices.json'), { force: true })
    }
  },
)

chaosTest('with --json-log events of simulated devices are not printed', async (t) => {
  const dev = startDev(t, dataFolder(t), '--json-log')
  const { trigger, call } = await readWelcome(dev)
  const [{ jobExecutionId }] = JSON.parse((await doCurlLine(trigger)).text)
  assert.equal((await call('GET', `/job/api/executions/${jobExecutionId}?wait=60`)).execState, 'SUCCEEDED')
  assert.equal(await dev.end('SIGINT'), 0)
  assert.doesNotMatch(dev.stdout(), /IN_PROGRESS/)
})
