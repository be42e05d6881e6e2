import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageUnavailable } from '../../src/domain/common/ports/storage-errors.ts'
import { DiskSpace } from '../../src/state/disk-space.ts'

const gib = 1024 ** 3

async function openDisk(freeBytes: number, totalBytes: number, minFreeBytes = gib): Promise<DiskSpace> {
  const read = async () => ({ freeBytes, totalBytes })
  const disk = new DiskSpace({ minFreeBytes, read, onChange: () => undefined })
  await disk.check()
  return disk
}

test('files stop where four marks are left, and output continues', async () => {
  const disk = await openDisk(4 * gib, 100 * gib)
  disk.requireRoomForFile(0)
  assert.throws(() => disk.requireRoomForFile(1), StorageUnavailable)
  assert.equal(disk.refusesProgress, false)
  const large = await openDisk(50 * gib, 100 * gib)
  large.requireRoomForFile(46 * gib)
  assert.throws(() => large.requireRoomForFile(46 * gib + 1), StorageUnavailable)
})

test('on a small disk files leave a fifth of it', async () => {
  const disk = await openDisk(5 * gib, 10 * gib)
  disk.requireRoomForFile(3 * gib)
  assert.throws(() => disk.requireRoomForFile(3 * gib + 1), StorageUnavailable)
})

test('nothing is refused before the disk was checked', () => {
  const read = async () => ({ freeBytes: 0, totalBytes: 0 })
  new DiskSpace({ minFreeBytes: gib, read, onChange: () => undefined }).requireRoomForFile(gib)
})
