// aws-iot-device-sdk, the old one in plain JavaScript, unmodified: with a certificate over TLS, and over WebSocket
// with a password (its way of custom authentication).

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { certificates, certifiedDeviceId } from '@jobcast/testkit/certificates'
import { mqttPortOf, openTlsServer, tlsHost } from '@jobcast/testkit/open-tls-server'
import awsIot, { type DeviceOptions, type device, type Job } from 'aws-iot-device-sdk'
import { Inbox } from './support/device-client.ts'
import { exerciseDevice, exerciseNotices } from './support/exercise-device.ts'
import {
  newDeviceId,
  putJob,
  readExecution,
  seedDevice,
  seedDeviceAnew,
  trigger,
  waitForEnd,
} from './support/seed.ts'
import { openTopicDevice, type TopicLink } from './support/topic-device.ts'

const api = await openTlsServer()

type SignIn = () => Promise<DeviceOptions>

const byCertificate: SignIn = async () => {
  await seedDeviceAnew(api, certifiedDeviceId)
  return {
    // Not tlsHost: it sends the host as the name of the server, which an address cannot be.
    host: 'localhost',
    port: mqttPortOf(api),
    clientId: certifiedDeviceId,
    caPath: certificates.ca,
    certPath: certificates.deviceCert,
    keyPath: certificates.deviceKey,
  }
}

const byPassword: SignIn = async () => {
  const deviceId = newDeviceId()
  return {
    protocol: 'wss-custom-auth',
    host: tlsHost,
    port: Number(new URL(api.http).port),
    clientId: deviceId,
    username: deviceId,
    password: await seedDevice(api, deviceId),
    region: 'none',
    customAuthHeaders: {},
    websocketOptions: { ca: readFileSync(certificates.ca) },
  }
}

for (const [way, signIn] of [
  ['a certificate over TLS', byCertificate],
  ['a password over WebSocket', byPassword],
] as const) {
  const open = async (t: TestContext) => {
    const options = await signIn()
    const link = linkOf(await connect(t, new awsIot.device(options)))
    const client = await openTopicDevice(options.clientId, link)
    return { api, deviceId: options.clientId, client, documentAs: 'object' as const }
  }
  exerciseDevice(`the device object with ${way}`, open)
  exerciseNotices(`the device object with ${way}`, open)

  test(`the jobs object with ${way}: is given its jobs one after the other and ends them`, async (t) => {
    const options = await signIn()
    const deviceId = options.clientId
    await putJob(api, 'plain', { document: { url: 'https://example.com/firmware' } })
    await putJob(api, 'reboot', { document: { operation: 'reboot' } })
    const first = await trigger(api, 'plain', deviceId)

    const jobs = await connect(t, new awsIot.jobs(options))
    const anyJob = new Inbox<Job>('any job')
    const reboot = new Inbox<Job>('reboot')
    jobs.subscribeToJobs(deviceId, (_, job) => anyJob.put(job))
    jobs.subscribeToJobs(deviceId, 'reboot', (_, job) => reboot.put(job))
    await promisify(jobs.startJobNotifications)(deviceId)

    const job = await anyJob.take()
    assert.equal(job.id, first)
    assert.deepEqual(job.document, { url: 'https://example.com/firmware' })
    assert.deepEqual(job.status, { status: 'QUEUED', statusDetails: {} })
    await promisify(job.inProgress)({ step: 'download' })
    const second = await trigger(api, 'reboot', deviceId)
    await promisify(job.succeeded)({ step: 'done' })

    const next = await reboot.take()
    assert.equal(next.id, second)
    await promisify(next.failed)({ reason: 'no-power' })

    // It is told what is pending when it subscribes, and asks as well: the first job may come twice.
    assert.ok(anyJob.takeAll().every(({ id }) => id === first))
    assert.deepEqual(reboot.takeAll(), [])
    const [ended, failed] = [await waitForEnd(api, first), await waitForEnd(api, second)]
    assert.deepEqual([ended.execState, ended.statusDetails], ['SUCCEEDED', { step: 'done' }])
    assert.deepEqual([failed.execState, failed.statusDetails], ['FAILED', { reason: 'no-power' }])
    assert.equal((await readExecution(api, first)).versionNumber, 3)
  })
}

async function connect<T extends device>(t: TestContext, client: T): Promise<T> {
  t.after(() => new Promise<void>((done) => client.end(true, done)))
  await new Promise<void>((resolve, reject) => {
    client.on('error', reject)
    client.once('connect', resolve)
    // It would try again for ever.
    client.once('close', () => reject(new Error('closed before it was let in')))
  })
  return client
}

function linkOf(client: device): TopicLink {
  return {
    subscribe: (filters) => promisify(client.subscribe)(filters, { qos: 1 }),
    publish: (topic, payload) => promisify(client.publish)(topic, payload, { qos: 1 }),
    onMessage: (listener) => client.on('message', listener),
  }
}
