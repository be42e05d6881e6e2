// A handler that exits with 75 cannot run now: it is started again later, without using an attempt.

import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { isChaos } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import type { Step } from '../src/document/step.ts'
import { judgeRun } from '../src/execution/judge-run.ts'
import type { StepEnd } from '../src/execution/run-step.ts'
import { newDeviceUnderTest } from './support/device-under-test.ts'
import { type AgentProgram, findPrograms, startProgram } from './support/programs.ts'

let skippedMs = 0
const server = await openSharedServer({ elapsed: () => performance.now() + skippedMs })

for (const program of await findPrograms()) {
  if (program.isOther && !isChaos) continue
  describe(program.name, { skip: program.missing ?? false }, () => {
    test('postpones for longer and longer while its handler cannot run, and runs others meanwhile', (t) =>
      asksForTime(t, program))
  })
}

async function asksForTime(t: TestContext, program: AgentProgram) {
  const device = await newDeviceUnderTest(t, server)
  const free = join(device.folder, 'free')
  device.addHandler('careful', `echo "start $JOBCAST_START"; [ -e '${free}' ] || exit 75`)
  device.addHandler('other', 'exit 0')
  const first = startProgram(t, program, device, server.http)
  const id = await device.trigger({ handler: 'careful' })
  const postponed = async (versionNumber: number) => {
    const read = async () => (await server.call('GET', `/job/api/executions/${id}`)).json
    await waitUntil('it to be postponed', async () => {
      const { notBefore, versionNumber: version } = await read()
      return version === versionNumber && notBefore !== null
    })
    return read()
  }
  const once = await postponed(3)
  assert.deepEqual([once.execState, once.attempt, once.outputBytes], ['PENDING', 1, 0])
  assert.deepEqual([once.statusDetails.retryAfterSeconds, once.statusDetails.exitCode], ['60', '75'])
  assert.equal((await device.run({ handler: 'other' })).execState, 'SUCCEEDED')
  assert.equal((await postponed(3)).execState, 'PENDING')

  // The requested delay is on disk, for the next agent.
  assert.equal(await first.end('SIGTERM'), 0)
  startProgram(t, program, device, server.http)
  skippedMs += 60_000
  assert.equal((await postponed(5)).statusDetails.retryAfterSeconds, '120')
  skippedMs += 100_000
  assert.equal((await device.run({ handler: 'other' })).execState, 'SUCCEEDED')
  assert.equal((await postponed(5)).execState, 'PENDING')
  assert.ok(!existsSync(free))
  writeFileSync(free, '')
  skippedMs += 20_000
  const ended = await device.ended(id)
  assert.deepEqual([ended.execState, ended.attempt], ['SUCCEEDED', 1])
  assert.equal((await device.output(id)).toString(), 'start 1\n')
}

test('the delay doubles up to an hour, and a step with ignored failures does not postpone', () => {
  const end: StepEnd = { kind: 'exited', exitCode: 75, signal: null, stderrLines: 0 }
  const after = (waited: number | undefined, ignoreFailure = false) => {
    const given = { name: 's', program: 'p', args: [], allowStdErr: undefined, ignoreFailure }
    const step: Step = { ...given, runs: 'handler' }
    return judgeRun({ step, end }, undefined, false, waited)
  }
  const waits = [undefined, 60, 120, 1800, 2000, 3600].map((waited) => after(waited).retryAfterSeconds)
  assert.deepEqual(waits, [60, 120, 240, 3600, 3600, 3600])
  assert.equal(after(undefined).status, 'REJECTED')
  assert.deepEqual([after(60, true).status, after(60, true).retryAfterSeconds], ['SUCCEEDED', undefined])
})
