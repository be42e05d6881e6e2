// The unmodified device of docs/examples/device.sh: a few lines of sh around curl.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openServer } from '@jobcast/testkit/open-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
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
  let isGone = false
  const failed = gone.then(([code]) => {
    isGone = true
    throw new Error(`the device ended with ${code}: ${said}`)
  })
  failed.catch(() => undefined)
  t.after(async () => {
    if (!isGone) process.kill(-(device.pid as number), 'SIGTERM')
    await gone
  })

  const ended = await Promise.race([waitForEnd(api, first), failed])
  assert.equal(ended.execState, 'SUCCEEDED', said)
  // The device waits by now, or is about to: this one comes through the long poll.
  const second = await trigger(api, 'hello', 'shell-device')
  assert.equal((await Promise.race([waitForEnd(api, second), failed])).execState, 'SUCCEEDED', said)
  // What it wrote may arrive after what it has sent.
  const expected = new RegExp(`working on ${first}\n.*working on ${second}\n`, 's')
  await waitUntil(
    () => `${expected} in ${said}`,
    () => expected.test(said),
  )
  assert.ok(!said.includes(token))
})
