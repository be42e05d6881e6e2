// Senders of a message to each of many devices: Jobcast, and what it is compared with.

import { setTimeout as sleep } from 'node:timers/promises'
import { runCaller } from '../caller.ts'
import type { Jobcast } from '../jobcast.ts'
import { hasMosquitto, type Mosquitto, startMosquitto } from '../peers/mosquitto.ts'
import { buildRequests, inTurn } from '../requests.ts'
import { startCommanded } from '../server-process.ts'
import { nowMs } from './clock.ts'
import { Device } from './device.ts'
import type { Credential } from './fleet-orders.ts'
import { publishPacket } from './mqtt-bytes.ts'
import { samplePayload } from './sample-message.ts'

const makeReadyMs = 200

/** `bytes` is the size of each message on the wire. */
export type Messages = { topics: string[]; qos: 0 | 1; bytes: number }

/** `answeredAt` is the time of the 201, if the sender answers. */
type Send = () => Promise<{ sentAt: number; answeredAt?: number }>

export type Sender = {
  name: string
  /** Where devices connect. */
  port: number
  pid: number
  speaksMqtt: boolean
  /** Prepares one message to each device on each topic. */
  makeReady(messages: Messages): Promise<Send>
  end(): Promise<void>
}

export function jobcastSender(jobcast: Jobcast, devices: number): Sender {
  const { port, mqttPort, pid, apiKey } = jobcast
  const requests = buildRequests({ kind: 'trigger', devices }, apiKey).slice(0, 1)
  return {
    name: 'Jobcast',
    port: mqttPort,
    pid,
    speaksMqtt: true,
    makeReady: async () => async () => {
      let ms = 0
      const onAnswer = (took: number) => {
        ms = took
        return false
      }
      await runCaller({ port, next: inTurn(requests, 0), onAnswer })
      const answeredAt = nowMs()
      return { sentAt: answeredAt - ms, answeredAt }
    },
    end: () => jobcast.end(),
  }
}

export async function startBareSockets(): Promise<Sender> {
  const { command, ...target } = await startCommanded('devices/limits/bare-sockets.ts')
  return {
    name: 'bare sockets',
    ...target,
    speaksMqtt: false,
    makeReady: async ({ topics, bytes }) => sendBy(() => command({ messages: topics.length, bytes })),
  }
}

/** Prepares one message on each topic, or sends them. */
export type AedesCommand = { topics: string[] } | { payload: string; qos: 0 | 1 }

export async function startAedes(devices: Credential[]): Promise<Sender> {
  const { command, ...target } = await startCommanded('peers/aedes.ts')
  return {
    name: 'aedes',
    ...target,
    speaksMqtt: true,
    async makeReady(messages) {
      const { qos } = messages
      const topics = allTopics(devices, messages)
      const payload = samplePayload(topics[0] ?? '', qos, messages.bytes)
      command({ topics } satisfies AedesCommand)
      await sleep(makeReadyMs)
      return sendBy(() => command({ payload, qos } satisfies AedesCommand))
    },
  }
}

/** Undefined if mosquitto is not installed. */
export async function startMosquittoSender(devices: Credential[]): Promise<Sender | undefined> {
  return hasMosquitto() ? openMosquittoSender(await startMosquitto(), devices) : undefined
}

export async function openMosquittoSender(mosquitto: Mosquitto, devices: Credential[]): Promise<Sender> {
  const publisher = new Device(
    { deviceId: 'publisher', token: '' },
    {
      port: mosquitto.port,
      localAddress: '127.0.0.1',
      speaksMqtt: true,
      keepAliveSeconds: 0,
      ears: {},
      onLost: () => undefined,
    },
  )
  await publisher.open()
  return {
    name: 'mosquitto',
    ...mosquitto,
    speaksMqtt: true,
    async makeReady(messages) {
      const topics = allTopics(devices, messages)
      const payload = samplePayload(topics[0] ?? '', messages.qos, messages.bytes)
      const packets = topics.map((topic, index) =>
        publishPacket(topic, payload, messages.qos === 1 ? index + 1 : undefined),
      )
      const all = Buffer.concat(packets)
      return sendBy(() => publisher.send(all))
    },
  }
}

export function sendBy(begin: () => void): Send {
  return async () => {
    const sentAt = nowMs()
    begin()
    return { sentAt }
  }
}

export function allTopics(devices: Credential[], { topics }: Messages): string[] {
  return devices.flatMap(({ deviceId }) => topics.map((topic) => `$aws/things/${deviceId}/jobs/${topic}`))
}
