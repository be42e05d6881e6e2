import { jobcast } from '../../api/client.ts'

/** Reads all devices with the tag, page by page; `onRead` gets the number so far. */
export async function readTagged(
  tag: string,
  signal: AbortSignal | undefined,
  onRead: (count: number) => void = () => undefined,
): Promise<string[]> {
  const deviceIds: string[] = []
  for await (const { deviceId } of jobcast.devices.list({ tag, limit: 200 }, { signal })) {
    deviceIds.push(deviceId)
    if (deviceIds.length % 200 === 0) onRead(deviceIds.length)
  }
  return deviceIds
}
