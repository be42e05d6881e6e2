// Unmodified clients connected to mosquitto: the SDK of AWS and paho for Python.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { endWithProcess } from '@jobcast/testkit/end-with-process'
import { withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { isChaos } from '@jobcast/testkit/test-size'
import { AwsDevices } from '../../devices/support/aws-devices.ts'
import { exerciseDevice, exerciseNotices } from '../../devices/support/exercise-device.ts'
import { connectMqttJs } from '../../devices/support/mqtt-js-link.ts'
import { newDeviceId } from '../../devices/support/seed.ts'
import { openTopicDevice } from '../../devices/support/topic-device.ts'
import { openBridged, shareBridged } from './bridge-under-test.ts'

type Open = Parameters<typeof exerciseNotices>[1]

const openShared = shareBridged()

async function openWithDevice() {
  const api = await openShared()
  const deviceId = newDeviceId()
  await api.putJobAndDevices('any', [deviceId])
  return { api, deviceId, documentAs: 'object' as const }
}

function exercise(name: string, open: Open): void {
  exerciseDevice(`${name} over the broker`, open)
  exerciseNotices(`${name} over the broker`, open)
}

if (isChaos && !withoutMosquitto) {
  const devices = new AwsDevices()
  for (const version of [4, 5] as const)
    for (const api of ['requests', 'topics'] as const)
      exercise(`aws-iot-device-sdk-v2, MQTT ${version}, ${api}`, async (t) => {
        const opened = await openWithDevice()
        const { hostname: host, port } = new URL(opened.api.broker.url)
        const { deviceId } = opened
        // A broker without users accepts any password.
        const signIn = { deviceId, host, port: Number(port), token: 'any' }
        return { ...opened, client: await devices.connect(t, { ...signIn, version, api }) }
      })

  for (const protocolVersion of [4, 5] as const)
    exercise(`mqtt.js, MQTT ${protocolVersion}`, async (t) => {
      const opened = await openWithDevice()
      const options = { clientId: opened.deviceId, protocolVersion }
      const link = await connectMqttJs(t, opened.api.broker.url, options)
      return { ...opened, client: await openTopicDevice(opened.deviceId, link) }
    })
}

const python = ['python3', '/usr/bin/python3'].find(
  (each) => spawnSync(each, ['-c', 'import paho.mqtt.client'], { timeout: 60_000 }).status === 0,
)
const withoutPaho = python === undefined && 'paho for Python is not installed (Debian: python3-paho-mqtt)'

chaosTest(
  'device.py, with paho, takes what waits and what comes',
  {
    skip: withoutMosquitto || withoutPaho,
  },
  async (t) => {
    const { broker, call, trigger, putJobAndDevices } = await openBridged(t)
    await putJobAndDevices('hello', ['in-python'])
    const waiting = (await trigger('hello', ['in-python'])).json[0].jobExecutionId
    const { hostname: HOST, port: MQTT_PORT } = new URL(broker.url)
    const file = join(import.meta.dirname, '../../../../examples/device.py')
    const env = { ...process.env, HOST, MQTT_PORT, DEVICE: 'in-python', TOKEN: 'any' }
    const child = spawn(python as string, [file], { env, stdio: 'ignore' })
    endWithProcess(child)
    t.after(() => child.kill())
    const stateOf = async (id: number) =>
      (await call('GET', `/job/api/executions/${id}?wait=60`)).json.execState
    assert.equal(await stateOf(waiting), 'SUCCEEDED')
    const next = (await trigger('hello', ['in-python'])).json[0].jobExecutionId
    assert.equal(await stateOf(next), 'SUCCEEDED')
  },
)
