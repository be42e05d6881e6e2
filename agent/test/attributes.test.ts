// The attributes that an agent reports.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import packageJson from '../package.json' with { type: 'json' }
import { newDeviceUnderTest } from './support/device-under-test.ts'

const server = await openSharedServer()

for (const by of ['mqtt', 'http'] as const) {
  test(`an agent reports itself and its file, after a change and after a handler, by ${by}`, async (t) => {
    const device = await newDeviceUnderTest(t, server)
    const attributesFile = join(device.folder, 'attributes.json')
    writeFileSync(attributesFile, JSON.stringify({ fw: '1.0', slot: 1 }))
    const reported = async () =>
      (await server.call('GET', `/job/api/devices/${device.deviceId}`)).json.reportedAttributes
    const until = (isRight: (attributes: Record<string, unknown>) => boolean) =>
      waitUntil('the attributes are there', async () => isRight(await reported()))
    const options = { attributesFile, ...(by === 'http' && { server: { by, url: server.http } }) }
    const agent = await device.start(options)
    await until(({ fw }) => fw === '1.0')
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
    const self = { agentVersion: packageJson.version, os: process.platform, arch: process.arch, timeZone }
    assert.deepEqual(await reported(), { ...self, fw: '1.0', slot: 1 })

    writeFileSync(attributesFile, JSON.stringify({ fw: '1.1' }))
    await until(({ fw, slot }) => fw === '1.1' && slot === undefined)

    device.addHandler('update', `printf '{"fw": "2.0"}' > "${attributesFile}"`)
    assert.equal((await device.run({ handler: 'update' })).execState, 'SUCCEEDED')
    await until(({ fw }) => fw === '2.0')

    await agent.stop()
    writeFileSync(attributesFile, '{}')
    await device.start(options)
    await until(({ fw }) => fw === undefined)
    assert.deepEqual(await reported(), self)
    assert.match(readFileSync(join(device.folder, 'state', 'attributes.json'), 'utf8'), /agentVersion/)
  })
}

test('a file with invalid JSON or invalid attributes is logged and stops nothing', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  const attributesFile = join(device.folder, 'attributes.json')
  writeFileSync(attributesFile, '[1]')
  await device.start({ attributesFile })
  await waitUntil('the agent has told it', () => device.log.of('attributes-failed').length > 0)
  writeFileSync(attributesFile, '{"a b": 1}')
  await waitUntil('the agent has told it', () => device.log.of('attributes-refused').length > 0)
  device.addHandler('ok', 'exit 0')
  assert.equal((await device.run({ handler: 'ok' })).execState, 'SUCCEEDED')
})
