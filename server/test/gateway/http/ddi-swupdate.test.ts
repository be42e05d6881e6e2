// The unmodified SWUpdate of Debian, with a real update file: a rollout of two waves, a reboot in the middle, a stop rule and a cancel.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { buildSwu, newSigner, startSwupdate, withoutSwupdate } from '@jobcast/testkit/swupdate'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'

const skip = withoutSwupdate
const api = await openSharedServer({ ddiPollSeconds: 1 })
const signer = skip ? { certificate: '', key: '' } : newSigner({ after })

async function putUpdate(fileName: string, content: Buffer): Promise<void> {
  const headers = { 'content-type': 'application/octet-stream' }
  const put = await api.call('PUT', `/job/api/files/${fileName}/2.4`, { rawBody: content, headers })
  assert.equal(put.status, 201, put.text)
  const document = { files: [fileName], version: '2.4', part: 'os' }
  const job = await api.call('PUT', `/job/api/jobs/${fileName}`, { body: { document } })
  assert.ok(job.status < 300, job.text)
}

async function device(t: TestContext, deviceId: string) {
  const { token } = await newDevice(api, deviceId)
  const start = (more: string[] = []) => startSwupdate(t, { http: api.http, deviceId, token, signer, more })
  return { deviceId, start }
}

async function statesOf(runId: number): Promise<Record<string, string>> {
  const { json } = await api.call('GET', `/job/api/executions?runId=${runId}`)
  const rows = json.items as { deviceId: string; execState: string }[]
  return Object.fromEntries(rows.map(({ deviceId, execState }) => [deviceId, execState]))
}

test('SWUpdate installs a run of two waves, and confirms after a reboot', { skip }, async (t) => {
  const installed = join(temporaryFolder(t), 'installed')
  await putUpdate('firmware', buildSwu(signer, '2.4', 'firmware 2.4', installed))
  const [first, second] = [await device(t, 'swu-1'), await device(t, 'swu-2')]
  const made = await api.call('POST', '/job/api/runs', {
    body: {
      jobName: 'firmware',
      targets: { deviceIds: ['swu-1', 'swu-2'] },
      rollout: { order: 'GIVEN', waves: [{ size: 1 }, { size: '100%' }] },
    },
  })
  assert.equal(made.status, 201, made.text)
  const { runId } = made.json
  const reaches = (deviceId: string, state: string, printed: () => string) =>
    waitUntil(
      () => `${deviceId} is ${state}\n${printed()}`,
      async () => (await statesOf(runId))[deviceId] === state,
    )
  const beforeReboot = first.start()
  const waits = second.start()
  await waitUntil(
    () => `the update is installed\n${beforeReboot.printed()}`,
    () => existsSync(installed) && readFileSync(installed, 'utf8') === 'firmware 2.4',
  )
  await reaches('swu-1', 'IN_PROGRESS', beforeReboot.printed)
  assert.equal((await statesOf(runId))['swu-2'], 'PENDING')
  await beforeReboot.stop()
  const afterReboot = first.start(['-c', '2'])
  await reaches('swu-1', 'SUCCEEDED', afterReboot.printed)
  await afterReboot.stop()
  await reaches('swu-2', 'IN_PROGRESS', waits.printed)
  const { json } = await api.call('GET', `/job/api/executions?runId=${runId}`)
  const [last] = json.items.filter(({ deviceId }: { deviceId: string }) => deviceId === 'swu-1')
  const output = await api.call('GET', `/job/api/executions/${last.jobExecutionId}/output`)
  assert.match(output.text, /Installing Update Chunk Artifacts/)
  assert.match(output.text, /Update Installed/)
})

test('what SWUpdate cannot install is FAILED with its words, and a stop rule holds the next wave back', {
  skip,
}, async (t) => {
  await putUpdate('broken', Buffer.from('not a swu file'))
  const bad = await device(t, 'swu-bad')
  await newDevice(api, 'swu-next')
  const rollout = {
    ...{ order: 'GIVEN', waves: [{ size: 1 }, { size: '100%' }] },
    stop: [{ on: ['FAILED'], count: 1, action: 'ABORT' }],
  }
  const body = { jobName: 'broken', targets: { deviceIds: ['swu-bad', 'swu-next'] }, rollout }
  const { runId } = (await api.call('POST', '/job/api/runs', { body })).json
  const { printed } = bad.start()
  await waitUntil(
    () => `the run is stopped\n${printed()}`,
    async () => (await statesOf(runId))['swu-next'] === 'CANCELED',
  )
  assert.equal((await statesOf(runId))['swu-bad'], 'FAILED')
  const { json } = await api.call('GET', `/job/api/executions?runId=${runId}`)
  const failed = json.items.find(({ execState }: { execState: string }) => execState === 'FAILED')
  // Which lines come before its last one depends on how fast it reads its own log.
  assert.match(failed.statusDetails.reason, /No suitable \.swu image found/)
})

test('SWUpdate acknowledges a cancel', { skip }, async (t) => {
  const installed = join(temporaryFolder(t), 'installed')
  await putUpdate('stopped', buildSwu(signer, '2.4', 'never', installed))
  const { start } = await device(t, 'swu-stop')
  const [{ jobExecutionId: id }] = (await api.trigger('stopped', ['swu-stop'])).json
  const { runId } = (await api.call('GET', `/job/api/executions/${id}`)).json
  // Installed, and not confirmed yet: it is still at it.
  const { printed } = start()
  const reaches = (state: string) =>
    waitUntil(
      () => `it is ${state}\n${printed()}`,
      async () => (await statesOf(runId))['swu-stop'] === state,
    )
  await reaches('IN_PROGRESS')
  await api.call('POST', `/job/api/executions/${id}/cancel`)
  await reaches('CANCELED')
  const output = await api.call('GET', `/job/api/executions/${id}/output`)
  assert.match(output.text, /cancellation acknowledged/)
})
