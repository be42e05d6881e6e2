// When a device came and left, from the log of events. The stream has no end, so it is left when it has told of the
// change since which the device is as it is, or when it has nothing more to say.

import { jobcast } from './client.ts'

/** `door`: by which way it came or left. */
export type PresenceChange = { at: number; online: boolean; door: string | undefined }

/** A device that comes back by a further connection is online "since" then, without an event. */
const silenceMs = 4000

export async function readPresence(
  deviceId: string,
  since: string,
  { signal }: { signal: AbortSignal },
): Promise<PresenceChange[]> {
  const changes: PresenceChange[] = []
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), silenceMs)
  try {
    for await (const event of jobcast.events({
      after: 0,
      types: ['device.online', 'device.offline'],
      deviceId,
      signal: AbortSignal.any([signal, silence.signal]),
    })) {
      changes.push(changeOf(event))
      if (event.timestamp >= since) break
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), silenceMs)
    }
  } catch (error) {
    if (!silence.signal.aborted) throw error
  } finally {
    clearTimeout(timer)
  }
  return changes
}

export function changeOf(event: {
  type: string
  timestamp: string
  data: { door?: string } | object
}): PresenceChange {
  return {
    at: Date.parse(event.timestamp),
    online: event.type === 'device.online',
    door: 'door' in event.data ? event.data.door : undefined,
  }
}
