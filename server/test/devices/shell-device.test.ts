// The device of docs/examples/device.sh, as it stands there: a few lines of sh around curl.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openServer } from '@jobcast/testkit/open-server'
import { putJob, seedDevice, trigger, waitForEnd } from './support/seed.ts'

const script = fileURLToPath(new URL('../../../docs/examples/device.sh', import.meta.url))
const canRun = spawnSync('sh', ['-c', 'curl --version']).status === 0

test('docs/examples/device.sh waits for jobs, works, and reports', {
  skip: !canRun && 'sh or curl is not installed',
}, async (t) => {
  const api = await openServer(t)
  await putJob(api, 'hello', { document: { jobId: 'not this one', text: 'it\'s "quoted" \\ 🚪' } })
  const token = await seedDevice(api, 'shell-device')
  const first = await trigger(api, 'hello', 'shell-device')

  const device = spawn('sh', [script], {
    // A group of its own, so that the curl that waits goes with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, JOBCAST: api.http, DEVICE: 'shell-device', TOKEN: token },
  })
  let said = ''
  device.stdout.on('data', (chunk) => {
    said += chunk
  })
  device.stderr.on('data', (chunk) => {
    said += chunk
  })
  const gone = once(device, 'close')
  t.after(async () => {
    process.kill(-(device.pid as number), 'SIGTERM')
    await gone
  })

  const ended = await waitForEnd(api, first)
  assert.equal(ended.execState, 'SUCCEEDED', said)
  // The device waits by now, or is about to: this one comes through the long poll.
  const second = await trigger(api, 'hello', 'shell-device')
  assert.equal((await waitForEnd(api, second)).execState, 'SUCCEEDED', said)
  assert.match(said, new RegExp(`working on ${first}\n.*working on ${second}\n`, 's'))
  assert.ok(!said.includes(token))
})
