// aws-iot-device-sdk-v2 as it is: both of its clients for jobs, with password and with certificate.

import { certificates, certifiedDeviceId } from '@jobcast/testkit/certificates'
import { mqttPortOf, openTlsServer, tlsHost } from '@jobcast/testkit/open-tls-server'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { AwsDevices, type ConnectOptions } from './aws-devices.ts'
import { exerciseDevice, exerciseNotices } from './exercise-device.ts'
import { newDeviceId, seedDevice, seedDeviceAnew } from './seed.ts'

const clients = [
  ['IotJobsClientv2', 'requests'],
  ['IotJobsClient', 'topics'],
] as const

export async function exerciseAwsSdkV2(version: ConnectOptions['version']): Promise<void> {
  const [plain, secure] = await Promise.all([openSharedServer(), openTlsServer()])
  const devices = new AwsDevices()
  const documentAs = 'object'

  for (const [clientName, api] of clients) {
    const open: Parameters<typeof exerciseNotices>[1] = async (t) => {
      const deviceId = newDeviceId()
      const token = await seedDevice(plain, deviceId)
      const address = { host: '127.0.0.1', port: mqttPortOf(plain) }
      const client = await devices.connect(t, { deviceId, ...address, version, api, token })
      return { api: plain, deviceId, client, documentAs }
    }
    exerciseDevice(`${clientName} with a password`, open)
    exerciseNotices(`${clientName} with a password`, open)
  }

  const { ca, deviceCert: cert, deviceKey: key } = certificates
  const openCertified: Parameters<typeof exerciseNotices>[1] = async (t) => {
    const deviceId = certifiedDeviceId
    await seedDeviceAnew(secure, deviceId)
    const address = { host: tlsHost, port: mqttPortOf(secure) }
    const client = await devices.connect(t, {
      deviceId,
      ...address,
      version,
      api: 'requests',
      tls: { ca, cert, key },
    })
    return { api: secure, deviceId, client, documentAs }
  }
  exerciseNotices('IotJobsClientv2 with a certificate', openCertified)
}
