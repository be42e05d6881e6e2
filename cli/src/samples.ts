// The sample job and the sample devices of `jobcast dev`, made through the API like anybody's.

export const sampleJobName = 'restart'
export const sampleDeviceIds = Array.from({ length: 8 }, (_, index) => `kiosk-${index + 1}`)

const cities = ['Berlin', 'Lagos', 'Lima', 'Osaka']

export async function addSamples(http: string, apiKey: string): Promise<void> {
  await put(`${http}/job/api/jobs/${sampleJobName}`, apiKey, {
    description: 'Restarts the kiosk application',
    document: { handler: 'restart', args: ['kiosk-app'] },
  })
  const puts = sampleDeviceIds.map((deviceId, index) => {
    const city = cities[index % cities.length] as string
    return put(`${http}/job/api/devices/${deviceId}`, apiKey, {
      deviceName: `Kiosk ${index + 1}, ${city}`,
      tags: ['kiosk', city.toLowerCase()],
    })
  })
  await Promise.all(puts)
}

async function put(url: string, apiKey: string, body: object): Promise<void> {
  const response = await fetch(url, {
    method: 'PUT',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`PUT ${url} answered ${response.status}: ${await response.text()}`)
}
