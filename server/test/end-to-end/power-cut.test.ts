// Acknowledged triggers survive a power cut: a file system is shut down under parallel callers, at random times.
// "npm run test:power-cut" cuts 200 times; it needs root and loop devices and is skipped where there are none.

import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkAfterCrash } from '@jobcast/testkit/check-after-crash'
import { openPowerCutDisk, type PowerCutDisk } from '@jobcast/testkit/power-cut-disk'
import { type Random, seededRandom } from '@jobcast/testkit/seeded-random'
import { type SpawnedServer, spawnServer } from '@jobcast/testkit/spawn-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { TriggerCaller } from '@jobcast/testkit/trigger-caller'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { deviceIdsUpTo, seedData } from '../support/seed-data.ts'

const cuts = testSize('cuts', { test: 1, chaos: 20 })
/** The power is cut after at most so many answers. */
const mostAnswers = 100
const devices = deviceIdsUpTo(1000)
const jobs = Array.from({ length: 8 }, (_, index) => `job-${index}`)

test(
  `after ${cuts} power cuts everything acknowledged exists once and complete (seed ${testSeed})`,
  longTest,
  async (t) => {
    const random = seededRandom(testSeed)
    const callers = jobs.map(
      (job, index) => new TriggerCaller(job, devices, seededRandom(testSeed + index), true),
    )
    const disk = openPowerCutDisk(temporaryFolder(t), (reason) => t.skip(reason))
    if (disk === undefined) return
    try {
      await cutAgainAndAgain(disk, callers, random)
    } finally {
      disk.remove()
    }
    const answered = callers.flatMap((caller) => caller.calls).filter((call) => call.answer)
    t.diagnostic(`${answered.length} calls were answered with a run, in ${cuts} cuts`)
    assert.ok(answered.length > cuts, 'too little was answered to prove anything')
  },
)

async function cutAgainAndAgain(disk: PowerCutDisk, callers: TriggerCaller[], random: Random): Promise<void> {
  const data = join(disk.folder, 'data')
  mkdirSync(data)
  await seedData(data, { jobs, deviceIds: devices })

  for (let cut = 0; cut < cuts; cut++) {
    const server: SpawnedServer = await spawnServer(data)
    let isOver = false
    const calling = callers.map((caller) =>
      caller.callUntil(
        () => isOver,
        async () => server,
      ),
    )
    const answers = () => callers.reduce((sum, caller) => sum + caller.answers, 0)
    const enough = answers() + random.below(mostAnswers)
    await waitUntil('enough calls are answered', () => answers() >= enough, { intervalMs: 1 })
    isOver = true
    disk.cut()
    await server.end('SIGKILL')
    await Promise.all(calling)
    disk.comeBack()
    checkAfterCrash(data, callers)
  }
}
