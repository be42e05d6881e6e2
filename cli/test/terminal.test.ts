// Progress and output at a terminal.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { ctrlC, openPseudoTerminal, openTerminal } from './open-terminal.ts'
import type { Screen } from './screen.ts'

const server = await openSharedServer()
const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: server.adminKey }

async function jobOn(jobName: string, ...deviceIds: string[]) {
  await server.putJobAndDevices(jobName, [])
  return Promise.all(deviceIds.map((deviceId) => newDevice(server, deviceId)))
}

const triggerFlags = (deviceIds: string[]) => deviceIds.flatMap((id) => ['--device', id])

/** On a busy machine a wait may be long enough to say what it waits for. */
function withoutWaiting(screen: Screen): string[] {
  return screen.rows().filter((row) => !row.startsWith('Waiting for '))
}

/** Starts the next execution of the device and ends it. */
async function carryOut(device: Awaited<ReturnType<typeof newDevice>>, status: string, reason?: string) {
  const { json } = await device.startNext()
  const details = reason === undefined ? {} : { statusDetails: { reason } }
  await device.update(json.execution.jobId, status, details)
}

test('redraws one bar, keeps unsuccessful executions above it, and removes it at the end', async (t) => {
  const [good, bad] = await jobOn('bar', 'bar-1', 'bar-2')
  assert.ok(good && bad)
  const flags = triggerFlags(['bar-1', 'bar-2'])
  const terminal = openPseudoTerminal(t, ['trigger', 'bar', ...flags, '--wait'], access)
  const { screen } = terminal
  await terminal.until(/bar #\d+ ░{30} {2}0\/2 {2}2 PENDING {2}\d:\d\d$/)
  assert.equal(screen.isCursorVisible, false)
  await carryOut(bad, 'FAILED', 'disk full')
  await terminal.until(
    /^bar-2: FAILED: disk full \(execution \d+\)\nbar #\d+ █{15}░{15} {2}1\/2 {2}1 FAILED 1 PENDING/m,
  )
  await carryOut(good, 'SUCCEEDED')
  assert.equal(await terminal.ended, 6)
  assert.equal(screen.isCursorVisible, true)
  const rows = withoutWaiting(screen)
  assert.equal(rows.length, 3, screen.text())
  assert.match(rows[0] ?? '', /^Run \d+: bar on 2 devices$/)
  assert.match(rows[1] ?? '', /^bar-2: FAILED: disk full/)
  assert.match(rows[2] ?? '', /^bar #\d+ {2}1 SUCCEEDED 1 FAILED$/)
  assert.ok(screen.raw.includes('\u001b[32m'))
})

chaosTest('uses no colors with NO_COLOR', async (t) => {
  const [device] = await jobOn('plain', 'plain-1')
  assert.ok(device)
  const args = ['trigger', 'plain', '--device', 'plain-1', '--wait']
  const terminal = openTerminal(t, args, { ...access, NO_COLOR: '1' })
  await terminal.until(/1 PENDING/)
  await carryOut(device, 'SUCCEEDED')
  assert.equal(await terminal.ended, 0)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: color codes begin with one
  assert.doesNotMatch(terminal.screen.raw, /\u001b\[[\d;]*m/)
})

chaosTest('fits the bar into a narrower terminal without wrapping', async (t) => {
  const [device] = await jobOn('narrow', 'narrow-1')
  assert.ok(device)
  const terminal = openPseudoTerminal(t, ['trigger', 'narrow', '-d', 'narrow-1', '--wait'], access)
  await terminal.until(/narrow #\d+ ░{30} {2}0\/1/)
  terminal.resize(40)
  await terminal.until(/narrow #\d+ ░{5,9} {2}0\/1 {2}1 PENDING {2}\d:\d\d$/)
  terminal.resize(20)
  await terminal.until(/^narrow #\d+ {2}0\/1 .{0,6}…$/m)
  assert.ok((terminal.screen.rows().at(-1) ?? '').length < 20)
  await carryOut(device, 'SUCCEEDED')
  assert.equal(await terminal.ended, 0)
})

test('Ctrl-C leaves the run running and says how to watch and cancel it', async (t) => {
  await jobOn('left', 'left-1')
  const terminal = openPseudoTerminal(t, ['trigger', 'left', '--device', 'left-1', '--wait'], access)
  await terminal.until(/1 PENDING/)
  terminal.press(ctrlC)
  assert.equal(await terminal.ended, 130)
  const { screen } = terminal
  assert.equal(screen.isCursorVisible, true)
  const [, runId] =
    /^Run (\d+) continues\. Watch it: {2}jobcast runs watch \1 .* jobcast runs cancel \1$/m.exec(
      screen.text(),
    ) ?? assert.fail(screen.text())
  const run = (await server.call('GET', `/job/api/runs/${runId}`)).json
  assert.equal(run.counts.PENDING, 1)

  const watch = openTerminal(t, ['runs', 'watch', runId ?? ''], access)
  await watch.until(/1 PENDING/)
  await server.call('POST', `/job/api/runs/${runId}/cancel`)
  assert.equal(await watch.ended, 6)
  assert.match(watch.screen.text(), /^left-1: CANCELED \(execution \d+\)\nleft #\d+ {2}1 CANCELED$/m)
})

chaosTest('prints the output of several devices above the bar, each line after its device', async (t) => {
  const devices = await jobOn('speak', 'speak-1', 'speak-22')
  const terminal = openTerminal(
    t,
    ['trigger', 'speak', ...triggerFlags(['speak-1', 'speak-22']), '--follow'],
    access,
  )
  await terminal.until(/2 PENDING/)
  const ids = await Promise.all(devices.map(async (each) => (await each.startNext()).json.execution.jobId))
  await Promise.all(devices.map((each, at) => each.output(ids[at], 0, 'hello\nyou')))
  await terminal.until(/^speak-1 {2}\| hello$/m)
  await terminal.until(/^speak-22 \| hello$/m)
  await terminal.until(/speak #\d+ ░{30} {2}0\/2 {2}2 IN_PROGRESS {2}\S+$/)
  await Promise.all(devices.map((each, at) => each.update(ids[at], 'SUCCEEDED')))
  assert.equal(await terminal.ended, 0)
  // An incomplete line is printed at the end.
  assert.match(terminal.screen.text(), /^speak-1 {2}\| you$/m)
  assert.match(terminal.screen.text(), /^speak-22 \| you$/m)
  assert.match(terminal.screen.rows().at(-1) ?? '', /^speak #\d+ {2}2 SUCCEEDED$/)
})

test('prints the output of one device as it arrives, without a bar', async (t) => {
  const [device] = await jobOn('raw', 'raw-1')
  assert.ok(device)
  const terminal = openTerminal(t, ['trigger', 'raw', '-d', 'raw-1', '-f'], access)
  await terminal.until(/^Run \d+: raw on 1 device$/m)
  const { jobId } = (await device.startNext()).json.execution
  await device.output(jobId, 0, 'half a ')
  await terminal.until(/^half a$/m)
  await device.output(jobId, 7, 'line\n')
  await device.update(jobId, 'SUCCEEDED')
  assert.equal(await terminal.ended, 0)
  const text = withoutWaiting(terminal.screen).join('\n')
  assert.match(text, /^Run \d+: raw on 1 device\nhalf a line\nraw #\d+ {2}1 SUCCEEDED$/)
})

test('cuts a table to the terminal, and colors its states', async (t) => {
  await jobOn('table', 'a-device-with-quite-a-long-name')
  await server.trigger('table', ['a-device-with-quite-a-long-name'])
  const terminal = openTerminal(t, ['executions', 'ls', '--job', 'table'], access, 50)
  assert.equal(await terminal.ended, 0)
  const rows = terminal.screen.rows()
  assert.equal(rows.length, 2)
  for (const row of rows) assert.ok(row.length <= 50, row)
  assert.match(rows[1] ?? '', /…$/)
  assert.ok(terminal.screen.raw.includes('\u001b[1mEXECUTION'))
})
