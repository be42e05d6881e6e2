// A disk that runs short: the largest writers are refused first, and the ends of executions, reads and deletions continue.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'

const megabyte = 1024 * 1024

test('output and progress are refused first, then triggers; all of it continues when there is space again', async (t) => {
  const disk = { freeBytes: 900 * megabyte, totalBytes: 100_000 * megabyte }
  const api = await openServer(t, {
    minFreeDiskBytes: 100 * megabyte,
    databaseUrl: undefined,
    readDisk: async () => disk,
  })
  await api.putJobAndDevices('restart', ['d1', 'd2'])
  const device = await newDevice(api, 'd1')
  const freeIs = async (megabytes: number) => {
    disk.freeBytes = megabytes * megabyte
    const line = `jobcast_disk_free_bytes ${disk.freeBytes}`
    await waitUntil('the space is read', async () => (await api.call('GET', '/metrics')).text.includes(line))
  }
  const [first] = (await api.trigger('restart', ['d1'])).json
  await api.trigger('restart', ['d1'])
  await device.startNext()
  const id = first.jobExecutionId
  const progress = () => device.update(id, 'IN_PROGRESS', { statusDetails: { step: '1' } })
  const output = () => device.output(id, 0, 'text')
  assert.deepEqual([(await progress()).status, (await output()).status], [200, 200])

  await freeIs(99)
  const refused = await progress()
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5'])
  assert.equal((await output()).status, 503)
  assert.equal((await api.trigger('restart', ['d2'])).status, 201)

  await freeIs(49)
  const trigger = await api.trigger('restart', ['d2'])
  assert.deepEqual(
    [trigger.status, trigger.json.code, trigger.headers.get('retry-after')],
    [503, 'J-909', '5'],
  )
  assert.equal((await progress()).status, 503)
  assert.equal((await device.update(id, 'SUCCEEDED')).status, 200)
  // The start of the next one changes its state as well.
  const { jobId } = (await device.startNext()).json.execution
  assert.equal((await api.call('POST', `/job/api/executions/${jobId}/cancel`, { body: {} })).status, 200)
  assert.equal((await api.call('GET', `/job/api/executions/${id}`)).json.execState, 'SUCCEEDED')
  assert.equal((await api.call('DELETE', '/job/api/devices/d2')).status, 204)
  assert.equal((await api.call('GET', '/readyz')).status, 200)

  await freeIs(100)
  assert.equal((await api.trigger('restart', ['d1'])).status, 201)
  assert.equal((await device.update(Number(jobId), 'IN_PROGRESS')).status, 200)
})

test('on a small disk the threshold is a share of the size', async (t) => {
  const disk = { freeBytes: 10 * megabyte, totalBytes: 64 * megabyte }
  const api = await openServer(t, {
    minFreeDiskBytes: 256 * megabyte,
    databaseUrl: undefined,
    readDisk: async () => disk,
  })
  await api.putJobAndDevices('restart', ['d1'])
  assert.equal((await api.trigger('restart', ['d1'])).status, 201)
})

test('only uploads depend on the free space of the disk of files-folder', async (t) => {
  const filesFolder = join(temporaryFolder(t), 'elsewhere', 'files')
  const disk = { freeBytes: 300 * megabyte, totalBytes: 100_000 * megabyte }
  const api = await openServer(t, {
    minFreeDiskBytes: 100 * megabyte,
    filesFolder,
    readDisk: async (folder) =>
      folder === filesFolder ? { ...disk } : { ...disk, freeBytes: disk.totalBytes },
  })
  const put = (version: string) => api.call('PUT', `/job/api/files/app/${version}`, { rawBody: 'content' })
  const refused = await put('1')
  assert.deepEqual([refused.status, refused.json.code], [503, 'J-909'])
  await api.putJobAndDevices('restart', ['d1'])
  assert.equal((await api.trigger('restart', ['d1'])).status, 201)
  disk.freeBytes = 1000 * megabyte
  await waitUntil('the space is read', async () => (await put('1')).status === 201)
  assert.equal((await put('2')).status, 201)
})
