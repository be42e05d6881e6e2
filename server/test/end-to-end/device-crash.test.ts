// Acknowledged reports are on disk: kills the real program at random times while devices report.
// "npm run test:device-crash" kills 500 times.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AcknowledgedReports } from '@jobcast/testkit/acknowledged-reports'
import { RestartingServer } from '@jobcast/testkit/restarting-server'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { SimulatedDevice } from '@jobcast/testkit/simulated-device'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { deviceIdsUpTo, seedData } from '../support/seed-data.ts'
import { seedTokens } from '../support/seed-tokens.ts'

const kills = testSize('kills', { test: 1, chaos: 30 })
/** A server is killed after at most so many acknowledgements. */
const mostAcknowledged = testSize('acknowledged', { test: 100, chaos: 300 })
const deviceIds = deviceIdsUpTo(16)
const stepsPerExecution = 30

test(
  `killed ${kills} times while devices report, every acknowledged report is there, once (seed ${testSeed})`,
  longTest,
  async (t) => {
    const random = seededRandom(testSeed)
    const folder = newTemporaryFolder()
    await seedData(folder, { jobs: ['restart'], deviceIds })
    const tokens = seedTokens(folder, deviceIds)
    const server = new RestartingServer(folder)
    const reports = new AcknowledgedReports(stepsPerExecution)
    const fleet = deviceIds.map((deviceId, index) => {
      const token = tokens.get(deviceId) as string
      const version = index % 2 === 0 ? 4 : 5
      return new SimulatedDevice({
        deviceId,
        token,
        version,
        address: server.address,
        carryOut: reports.carryOut,
      })
    })
    t.after(async () => {
      for (const device of fleet) device.stop()
      await server.end()
    })
    removeAfter(t, folder)
    const failure = Promise.withResolvers<never>()
    failure.promise.catch(() => undefined)
    for (const device of fleet) device.live().catch(failure.reject)

    const acknowledgedAtKill: number[] = []
    for (let kill = 0; kill < kills; kill++) {
      const api = await server.running()
      // Always enough to do until the next kill.
      for (let run = 0; run < 3; run++) assert.equal((await api.trigger('restart', deviceIds)).status, 201)
      const enough = reports.acknowledged + random.below(mostAcknowledged)
      const acknowledged = waitUntil('enough is acknowledged', () => reports.acknowledged >= enough, {
        intervalMs: 1,
      })
      await Promise.race([acknowledged, failure.promise])
      const { start } = await server.kill()
      reports.check(folder)
      acknowledgedAtKill.push(reports.acknowledged)
      if (kill + 1 < kills) await start()
    }
    await Promise.race([failure.promise, nextTurn()])
    const rounds = acknowledgedAtKill.filter((count, index) => count > (acknowledgedAtKill[index - 1] ?? 0))
    t.diagnostic(
      `${reports.acknowledged} reports were acknowledged, some in ${rounds.length} of ${kills} rounds`,
    )
    assert.ok(rounds.length > kills / 2, 'too little was acknowledged to prove anything')
  },
)
