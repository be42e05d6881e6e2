// Messages as large as Jobcast's, for those who have none of their own.

import { publishPacket } from './mqtt-bytes.ts'

const start = '{"jobId":"1","jobDocument":"'
const end = '"}'

/** A payload with which a publish on this topic has so many bytes. */
export function samplePayload(topic: string, qos: 0 | 1, bytes: number): string {
  // Before the payload: the first byte, two for the length of all, two for that of the topic, the packet id.
  const size = bytes - 5 - topic.length - 2 * qos
  return start + '.'.repeat(Math.max(0, size - start.length - end.length)) + end
}

export function sampleMessage(topic: string, bytes: number): Buffer {
  return publishPacket(topic, samplePayload(topic, 0, bytes))
}
