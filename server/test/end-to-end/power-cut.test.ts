// An answered trigger survives a power cut: a file system that is shut down under parallel callers, at random instants.
// "npm run test:power-cut" cuts 200 times; it needs root and loop devices and is skipped where there are none.

import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as rest } from 'node:timers/promises'
import { checkAfterCrash } from '@jobcast/testkit/check-after-crash'
import { openPowerCutDisk, type PowerCutDisk } from '@jobcast/testkit/power-cut-disk'
import { type Random, seededRandom } from '@jobcast/testkit/seeded-random'
import { type SpawnedServer, spawnServer } from '@jobcast/testkit/spawn-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { TriggerCaller } from '@jobcast/testkit/trigger-caller'

const cuts = Number(process.argv[2] ?? 5)
const seed = Number(process.argv[3] ?? randomInt(2 ** 31))
const devices = Array.from({ length: 1000 }, (_, index) => `device-${index}`)
const jobs = Array.from({ length: 8 }, (_, index) => `job-${index}`)

test(`after ${cuts} power cuts everything answered is there, once and whole (seed ${seed})`, async (t) => {
  const random = seededRandom(seed)
  const callers = jobs.map((job, index) => new TriggerCaller(job, devices, seededRandom(seed + index), true))
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
})

async function cutAgainAndAgain(disk: PowerCutDisk, callers: TriggerCaller[], random: Random): Promise<void> {
  const data = join(disk.folder, 'data')
  mkdirSync(data)
  const first = await spawnServer(data)
  await first.putJobAndDevices(jobs[0] as string, devices)
  for (const job of jobs.slice(1)) await first.putJobAndDevices(job, [])
  await first.end('SIGTERM')

  for (let cut = 0; cut < cuts; cut++) {
    const server: SpawnedServer = await spawnServer(data)
    let isOver = false
    const calling = callers.map((caller) =>
      caller.callUntil(
        () => isOver,
        async () => server,
      ),
    )
    // A cut has no event to wait for: any instant will do.
    await rest(random.below(600))
    isOver = true
    disk.cut()
    await server.end('SIGKILL')
    await Promise.all(calling)
    disk.comeBack()
    checkAfterCrash(data, callers)
  }
}
