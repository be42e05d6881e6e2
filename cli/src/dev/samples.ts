// The sample job and devices of `jobcast dev`, created through the API.

import type { DeviceCredential } from '@jobcast/contract'
import { simulatedTag } from '@jobcast/sim'
import type { LocalApi } from './local-api.ts'
import { writeSampleTokens } from './sample-tokens.ts'

export const sampleJobName = 'restart'
export const sampleDeviceIds = Array.from({ length: 8 }, (_, index) => `kiosk-${index + 1}`)
/** Never simulated, so its executions stay PENDING. It has no token; a user can create one to take it over. */
export const switchedOffId = 'kiosk-8'

const cities = ['Berlin', 'Lagos', 'Lima', 'Osaka']

/** Adds the samples only if there is no job yet: existing data is not changed. */
export async function addSamples(api: LocalApi, dataFolder: string): Promise<void> {
  const { items } = (await api.get('/job/api/jobs?limit=1')) as { items: unknown[] }
  if (items.length > 0) return
  const credentials: DeviceCredential[] = []
  for (const [index, deviceId] of sampleDeviceIds.entries()) {
    const city = cities[index % cities.length] as string
    const isSimulated = deviceId !== switchedOffId
    await api.put(`/job/api/devices/${deviceId}`, {
      deviceName: `Kiosk ${index + 1}, ${city}`,
      tags: ['kiosk', city.toLowerCase(), ...(isSimulated ? [simulatedTag] : [])],
    })
    if (!isSimulated) continue
    credentials.push((await api.post(`/job/api/devices/${deviceId}/credential`)) as DeviceCredential)
  }
  writeSampleTokens(dataFolder, credentials)
  // The job comes last: if a start is interrupted before this, the next start creates the samples.
  await api.put(`/job/api/jobs/${sampleJobName}`, {
    description: 'Restarts the kiosk application',
    document: { handler: 'restart', args: ['kiosk-app'] },
  })
}
