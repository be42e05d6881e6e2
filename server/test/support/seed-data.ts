// A data folder with jobs and devices in it, made without a server: ten thousand devices take a second, not ten.

import assert from 'node:assert/strict'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { emptyContent } from '../store/store-under-test.ts'

/** To be called before the first start, which then makes the admin key for this owner. */
export async function seedData(
  dataFolder: string,
  { jobs, deviceIds }: { jobs: string[]; deviceIds: string[] },
): Promise<void> {
  const store = openSqliteStore({ folder: dataFolder, onLost: assert.ifError })
  try {
    const at = Date.now()
    const owner = await store.createOwner({ ownerId: 'ow_seed', ownerName: 'default', createdAt: at })
    assert.ok(owner !== 'name-taken')
    const { ownerNo } = owner
    for (const jobName of jobs) await store.putJob({ ownerNo, jobName, content: emptyContent, at })
    await store.putDevices(
      deviceIds.map((deviceId) => ({ ownerNo, deviceId, deviceName: deviceId, tags: [], at })),
    )
  } finally {
    await store.close()
  }
}

export function deviceIdsUpTo(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `device-${index}`)
}

/** Of a session that is not of a person. */
export const ofKey = { person: null, tokens: null, checkedAt: null, triedAt: null }
