// Messages of the same size as Jobcast's, for senders that have none of their own.

import { publishPacket } from './mqtt-bytes.ts'

const start = '{"jobId":"1","jobDocument":"'
const end = '"}'

/** A payload that makes a publish on this topic `bytes` long. */
export function samplePayload(topic: string, qos: 0 | 1, bytes: number): string {
  // Before the payload: the first byte, two bytes each for the lengths of packet and topic, the topic, the packet id.
  const size = bytes - 5 - topic.length - 2 * qos
  return start + '.'.repeat(Math.max(0, size - start.length - end.length)) + end
}

export function sampleMessage(topic: string, bytes: number): Buffer {
  return publishPacket(topic, samplePayload(topic, 0, bytes))
}
