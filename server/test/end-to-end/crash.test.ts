// Kills the real program at random times under parallel callers.
// "npm run test:crash" kills 1000 times.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Api } from '@jobcast/testkit/call-api'
import { checkAfterCrash } from '@jobcast/testkit/check-after-crash'
import { type OpenServer, openServer } from '@jobcast/testkit/open-server'
import { instantOfFault } from '@jobcast/testkit/restarting-server'
import { type Random, seededRandom } from '@jobcast/testkit/seeded-random'
import { spawnServer, startProgram } from '@jobcast/testkit/spawn-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { TriggerCaller } from '@jobcast/testkit/trigger-caller'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { deviceIdsUpTo, seedData } from '../support/seed-data.ts'

const kills = testSize('kills', { test: 1, chaos: 30 })
const killsPerRound = 20
/** Maximum number of responses before a kill, so that kills also happen shortly after a start. */
const mostAnswers = 60
const devices = deviceIdsUpTo(1000)
const jobs = Array.from({ length: 8 }, (_, index) => `job-${index}`)

for (let round = 0; round * killsPerRound < kills; round++) {
  const seed = testSeed + round
  const count = Math.min(killsPerRound, kills - round * killsPerRound)
  test(
    `killed ${count} times, it loses no acknowledged write, duplicates nothing, leaves nothing partial (seed ${seed})`,
    longTest,
    async (t) => {
      const folder = temporaryFolder(t)
      const random = seededRandom(seed)
      const callers = jobs.map((job, index) => new TriggerCaller(job, devices, seededRandom(seed + index)))
      const openLast = () => openServer(t, { dataFolder: folder })
      const last = await killAgainAndAgain(folder, callers, random, count, openLast)
      await retryAll(callers, last)
      await last.server.stop()
      const seen = checkAfterCrash(folder, callers)
      const calls = callers.flatMap((caller) => caller.calls)
      const answered = calls.filter((call) => call.answer)
      t.diagnostic(
        `${calls.length} calls, ${answered.length} of them answered with a run; ` +
          `${seen.runs} runs on disk, ${seen.unansweredRuns} of them of calls that were not answered; ` +
          `${seen.executions} executions`,
      )
      assert.ok(answered.length > count, 'too little was answered to prove anything')
    },
  )
}

/** Gives the server that runs when all kills are done and all callers have ended. */
async function killAgainAndAgain(
  folder: string,
  callers: TriggerCaller[],
  random: Random,
  count: number,
  openLast: () => Promise<OpenServer>,
): Promise<OpenServer> {
  await seedData(folder, { jobs, deviceIds: devices })
  let server = await spawnServer(folder)
  let next: Promise<Api> = Promise.resolve(server)
  let killed = 0
  const calling = callers.map((caller) =>
    caller.callUntil(
      () => killed === count,
      () => next,
    ),
  )
  const failed = new Promise<never>((_, reject) => {
    for (const each of calling) each.catch(reject)
  })
  failed.catch(() => undefined)
  try {
    for (;;) {
      const enough = answersOf(callers) + random.below(mostAnswers)
      const answered = waitUntil('enough calls are answered', () => answersOf(callers) >= enough, {
        intervalMs: 1,
      })
      await Promise.race([answered, failed])
      const started = Promise.withResolvers<Api>()
      next = started.promise
      await server.end('SIGKILL')
      killed++
      // The last of them comes while it starts; of the others, every fifth.
      while (killed === count - 1 || (killed < count && random.chance(0.2))) {
        await killWhileStarting(folder, random)
        killed++
      }
      if (killed === count) {
        const last = await openLast()
        started.resolve(last)
        await Promise.all(calling)
        return last
      }
      server = await spawnServer(folder)
      started.resolve(server)
    }
  } catch (error) {
    next = Promise.reject(error)
    next.catch(() => undefined)
    await server.end('SIGKILL')
    throw error
  }
}

const answersOf = (callers: TriggerCaller[]) => callers.reduce((sum, { answers }) => sum + answers, 0)

async function killWhileStarting(folder: string, random: Random): Promise<void> {
  const { ready, end } = startProgram(folder)
  const outcome = ready.catch(() => undefined)
  // Nothing tells how far a start has come before it is ready, so its instant is a time: it takes about half a second.
  await instantOfFault(random.below(700))
  await end('SIGKILL')
  await outcome
}

/** Every call that has a key is made once more, after all kills, and must be answered as before. */
async function retryAll(callers: TriggerCaller[], server: Api): Promise<void> {
  for (const caller of callers) {
    for (const call of caller.calls) {
      if (call.key !== undefined) assert.ok(await caller.send(call, server))
    }
  }
}
