// SIGTERM while devices report: an orderly end for them, and what was acknowledged is on disk.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AcknowledgedReports } from '@jobcast/testkit/acknowledged-reports'
import { SimulatedDevice } from '@jobcast/testkit/simulated-device'
import { spawnServer } from '@jobcast/testkit/spawn-server'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { deviceIdsUpTo, seedData } from '../support/seed-data.ts'
import { seedTokens } from '../support/seed-tokens.ts'

const serverShuttingDown = 0x8b

const count = testSize('devices', { test: 50, chaos: 500 })

test(`SIGTERM while ${count} devices report: exit code 0, MQTT 5 gets the reason, acknowledged reports are stored`, async (t) => {
  const deviceIds = deviceIdsUpTo(count)
  const folder = newTemporaryFolder()
  await seedData(folder, { jobs: ['restart'], deviceIds })
  const tokens = seedTokens(folder, deviceIds)
  const server = await spawnServer(folder)
  const reports = new AcknowledgedReports(100_000)
  const addresses = [Promise.resolve(server.mqtt)]
  const fleet = deviceIds.map((deviceId, index) => {
    const token = tokens.get(deviceId) as string
    const version = index % 2 === 0 ? 5 : 4
    const address = () => addresses.at(-1) as Promise<string>
    return new SimulatedDevice({ deviceId, token, version, address, carryOut: reports.carryOut })
  })
  t.after(async () => {
    for (const device of fleet) device.stop()
    await server.end('SIGKILL')
  })
  removeAfter(t, folder)
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => undefined)
  for (const device of fleet) device.live().catch(failure.reject)
  assert.equal((await server.trigger('restart', deviceIds)).status, 201)
  // All of them: one that still signs in when the server stops is rightly turned away.
  const isBusy = () =>
    reports.acknowledged > 5 * deviceIds.length && fleet.every(({ line }) => line !== undefined)
  await Promise.race([waitUntil('the devices report', isBusy), failure.promise])

  // No device reconnects any more.
  addresses.push(new Promise<string>(() => undefined))
  const begun = performance.now()
  const ended = await server.end('SIGTERM')
  const ms = performance.now() - begun
  await Promise.race([Promise.all(fleet.map((device) => device.line?.closed)), failure.promise])

  assert.deepEqual(ended, { code: 0, signal: null })
  // The guarantee is 10 s; this bound also holds on a busy machine.
  assert.ok(ms < 30_000, `it took ${Math.round(ms)} ms`)
  for (const [index, { line }] of fleet.entries()) {
    assert.equal(line?.disconnectCode, index % 2 === 0 ? serverShuttingDown : undefined)
  }
  reports.check(folder)
  t.diagnostic(`${reports.acknowledged} reports were acknowledged, gone after ${Math.round(ms)} ms`)
})
