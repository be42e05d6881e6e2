// A database with a job and many devices, each with a token.

import { join } from 'node:path'
import { newSecretText } from '@jobcast/server'
import { hashSecret } from '../../server/src/domain/access/secret-text.ts'
import { inTransaction, openDatabase } from '../../server/src/store/sqlite/database.ts'
import { openWrites } from '../../server/src/store/sqlite/writes.ts'
import { putDevices } from '../../server/src/store/tables/device-puts.ts'
import { setDeviceToken } from '../../server/src/store/tables/devices.ts'
import { jobName } from '../fleet.ts'
import { startJobcast } from '../jobcast.ts'
import { temporaryFolder } from '../processes.ts'
import type { Stored } from '../stored.ts'
import type { Credential } from './fleet-orders.ts'

export type StoredDevices = Stored & { devices: Credential[] }

const document = { handler: 'restart', args: ['kiosk-app'] }
const ownerNo = 1

export async function buildStoredDevices(count: number): Promise<StoredDevices> {
  const folder = temporaryFolder()
  const { port, apiKey, end } = await startJobcast(folder)
  const reply = await fetch(`http://127.0.0.1:${port}/job/api/jobs/${jobName}`, {
    method: 'PUT',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ document }),
  })
  if (!reply.ok) throw new Error(await reply.text())
  await end('SIGTERM')
  return { executions: 0, folder, devices: await writeDevices(join(folder, 'jobcast.db'), count) }
}

/** Uses the store's own statements: through the API, with a commit for each token, it would take minutes. */
async function writeDevices(path: string, count: number): Promise<Credential[]> {
  const db = openDatabase(path)
  const queries = openWrites(db)
  const at = Date.now()
  const devices: Credential[] = []
  await inTransaction(db, async () => {
    for (let index = 0; index < count; index++) {
      const deviceId = deviceIdOf(index)
      const { id: tokenId, text: token } = newSecretText('jd')
      await putDevices(queries, [{ ownerNo, deviceId, deviceName: `Device ${index + 1}`, tags: [], at }])
      const set = {
        ownerNo,
        deviceId,
        token: { tokenId, tokenHash: hashSecret(token), at, createdBy: null },
        at,
      }
      await setDeviceToken(queries, set)
      devices.push({ deviceId, token })
    }
  })
  db.close()
  return devices
}

/** The first 10,000 are the devices of bench/fleet.ts. */
function deviceIdOf(index: number): string {
  return `device-${String(index + 1).padStart(5, '0')}`
}
