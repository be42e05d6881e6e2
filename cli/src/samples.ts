// The sample job and the sample devices of `jobcast dev`, made through the API like anybody's.

import type { LocalApi } from './local-api.ts'

export const sampleJobName = 'restart'
export const sampleDeviceIds = Array.from({ length: 8 }, (_, index) => `kiosk-${index + 1}`)

const cities = ['Berlin', 'Lagos', 'Lima', 'Osaka']

/** Only where there is no job at all yet: what somebody made is left alone. */
export async function addSamples(api: LocalApi): Promise<void> {
  const { items } = (await api.get('/job/api/jobs?limit=1')) as { items: unknown[] }
  if (items.length > 0) return
  for (const [index, deviceId] of sampleDeviceIds.entries()) {
    const city = cities[index % cities.length] as string
    await api.put(`/job/api/devices/${deviceId}`, {
      deviceName: `Kiosk ${index + 1}, ${city}`,
      tags: ['kiosk', city.toLowerCase()],
    })
  }
  // Last: a start that breaks off before it leaves no job, and the next start makes the samples.
  await api.put(`/job/api/jobs/${sampleJobName}`, {
    description: 'Restarts the kiosk application',
    document: { handler: 'restart', args: ['kiosk-app'] },
  })
}
