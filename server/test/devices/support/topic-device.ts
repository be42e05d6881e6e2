// The device protocol spoken topic by topic, for clients that only know MQTT.

import assert from 'node:assert/strict'
import { buildInboxes, Inbox, type Json, type MqttDeviceClient, Refused } from './device-client.ts'

/** What any MQTT client can do. Both resolve when the server has acknowledged. */
export type TopicLink = {
  subscribe(filters: string[]): Promise<unknown>
  publish(topic: string, payload: string | Buffer): Promise<unknown>
  onMessage(listener: (topic: string, payload: Uint8Array) => void): void
}

type Answer = { accepted: boolean; body: Json }

export type TopicDevice = MqttDeviceClient & {
  readonly prefix: string
  /** Publishes as it is, or as JSON, behind the prefix, and gives the next answer to that topic. */
  ask(suffix: string, payload: unknown): Promise<Answer>
  subscribe(...suffixes: string[]): Promise<void>
}

const noticeTopics = ['notify', 'notify-next', '+/cancel']
const answerTopics = ['get/+', 'start-next/+', '+/get/accepted', '+/get/rejected', '+/update/+']

/** Subscribes to all answers, and to all notices unless a test wants to do that itself. */
export async function openTopicDevice(
  deviceId: string,
  link: TopicLink,
  { notices = true } = {},
): Promise<TopicDevice> {
  const prefix = `$aws/things/${deviceId}/jobs/`
  const inboxes = buildInboxes()
  const answers = new Map<string, Inbox<Answer>>()
  const answersTo = (suffix: string) => {
    const inbox = answers.get(suffix) ?? new Inbox(`the answer to ${suffix}`)
    answers.set(suffix, inbox)
    return inbox
  }
  link.onMessage((topic, payload) => {
    assert.ok(topic.startsWith(prefix), `not its own topic: ${topic}`)
    const suffix = topic.slice(prefix.length)
    const body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload))
    const answer = /^(.+)\/(accepted|rejected)$/.exec(suffix)
    if (answer) answersTo(answer[1] as string).put({ accepted: answer[2] === 'accepted', body })
    else if (suffix === 'notify') inboxes.notify.put(body)
    else if (suffix === 'notify-next') inboxes.notifyNext.put(body)
    else if (suffix.endsWith('/cancel'))
      inboxes.cancel.put({ jobId: suffix.split('/')[0] as string, message: body })
    else assert.fail(`nobody asked for ${topic}`)
  })

  let tokens = 0
  const device: TopicDevice = {
    ...inboxes,
    prefix,
    async ask(suffix, payload) {
      const isRaw = typeof payload === 'string' || Buffer.isBuffer(payload)
      await link.publish(prefix + suffix, isRaw ? payload : JSON.stringify(payload))
      return answersTo(suffix).take()
    },
    async subscribe(...suffixes) {
      await link.subscribe(suffixes.map((suffix) => prefix + suffix))
    },
    getPending: () => request('get', {}),
    startNext: (fields = {}) => request('start-next', fields),
    describe: (jobId, fields = {}) => request(`${jobId}/get`, fields),
    update: (jobId, fields) => request(`${jobId}/update`, fields),
  }
  async function request(suffix: string, fields: Json): Promise<Json> {
    tokens += 1
    const clientToken = `token-${tokens}`
    const { accepted, body } = await device.ask(suffix, { ...fields, clientToken })
    assert.equal(body.clientToken, clientToken)
    if (accepted) return body
    throw new Refused(body.code, body)
  }
  await device.subscribe(...answerTopics, ...(notices ? noticeTopics : []))
  return device
}
