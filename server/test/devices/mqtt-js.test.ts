// mqtt.js, which speaks the device protocol topic by topic: both versions of MQTT over every way in.

import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { certificates, certifiedDeviceId } from '@jobcast/testkit/certificates'
import type { OpenServer } from '@jobcast/testkit/open-server'
import { mqttPortOf, openTlsServer, tlsHost } from '@jobcast/testkit/open-tls-server'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { isChaos } from '@jobcast/testkit/test-size'
import type { IClientOptions } from 'mqtt'
import { exerciseDevice, exerciseNotices } from './support/exercise-device.ts'
import { connectMqttJs } from './support/mqtt-js-link.ts'
import { newDeviceId, seedDevice, seedDeviceAnew } from './support/seed.ts'
import { openTopicDevice } from './support/topic-device.ts'

const [plain, secure] = await Promise.all([openSharedServer(), openTlsServer()])
const ca = readFileSync(certificates.ca)
const certificate = { cert: readFileSync(certificates.deviceCert), key: readFileSync(certificates.deviceKey) }

const webSocketOf = ({ http }: OpenServer) => `${http.replace(/^http/, 'ws')}/mqtt`
const overTls = `mqtts://${tlsHost}:${mqttPortOf(secure)}`

const ways: { way: string; api: OpenServer; url: string; options: IClientOptions; certified: boolean }[] = [
  { way: 'TCP', api: plain, url: plain.server.mqtt, options: {}, certified: false },
  { way: 'WebSocket', api: plain, url: webSocketOf(plain), options: {}, certified: false },
  { way: 'TLS with a password', api: secure, url: overTls, options: { ca }, certified: false },
  {
    way: 'TLS with a certificate',
    api: secure,
    url: overTls,
    options: { ca, ...certificate },
    certified: true,
  },
  {
    way: 'WebSocket over TLS',
    api: secure,
    url: webSocketOf(secure),
    options: { ca },
    certified: false,
  },
]

for (const { way, api, url, options, certified } of ways) {
  // `npm test` tries both versions over TCP only.
  for (const protocolVersion of isChaos || way === 'TCP' ? ([4, 5] as const) : ([5] as const)) {
    const name = `MQTT ${protocolVersion === 4 ? '3.1.1' : '5'} over ${way}`
    const open = async (t: TestContext) => {
      const deviceId = certified ? certifiedDeviceId : newDeviceId()
      const credential: IClientOptions = {}
      if (certified) await seedDeviceAnew(api, deviceId)
      else Object.assign(credential, { username: deviceId, password: await seedDevice(api, deviceId) })
      const link = await connectMqttJs(t, url, { ...options, ...credential, protocolVersion })
      return { api, deviceId, client: await openTopicDevice(deviceId, link), documentAs: 'object' as const }
    }
    exerciseDevice(name, open)
    exerciseNotices(name, open)
  }
}
