// Registers simulated devices on the server, through the public API.

import type { Device, DeviceCredential, Page } from '@jobcast/contract'

/** One call of the API with a key that may MANAGE and READ. */
export type CallApi = (
  method: string,
  path: string,
  options?: { body?: object },
) => Promise<{ status: number; text: string }>

/** A problem that the user can fix. */
export class RegisterRefused extends Error {
  override name = 'RegisterRefused'
}

export const simulatedTag = 'simulated'

const defaultAtOnce = 32

/** With a new token for each. */
export async function registerDevices(
  call: CallApi,
  deviceIds: readonly string[],
  atOnce = defaultAtOnce,
): Promise<DeviceCredential[]> {
  await createDevices(call, deviceIds, atOnce)
  return inParallel(
    deviceIds,
    atOnce,
    (deviceId) => wanted(call, 'POST', `${pathOf(deviceId)}/credential`) as Promise<DeviceCredential>,
  )
}

/**
 * Without tokens. Existing devices must be tagged as simulated, so that the token of a real device is never
 * replaced.
 */
export async function createDevices(
  call: CallApi,
  deviceIds: readonly string[],
  atOnce = defaultAtOnce,
): Promise<void> {
  const simulated = await listSimulated(call)
  const missing = deviceIds.filter((deviceId) => !simulated.has(deviceId))
  await inParallel(missing, atOnce, (deviceId) => refuseIfKnown(call, deviceId))
  await inParallel(missing, atOnce, (deviceId) =>
    wanted(call, 'PUT', pathOf(deviceId), { body: { tags: [simulatedTag] } }),
  )
}

async function listSimulated(call: CallApi): Promise<Set<string>> {
  const found = new Set<string>()
  let cursor: string | null = ''
  while (cursor !== null) {
    const more: string = cursor && `&cursor=${encodeURIComponent(cursor)}`
    const path: string = `/job/api/devices?tag=${simulatedTag}&limit=200${more}`
    const page = (await wanted(call, 'GET', path)) as Page<Device>
    for (const { deviceId } of page.items) found.add(deviceId)
    cursor = page.nextCursor
  }
  return found
}

/** All are checked before any is created. */
async function refuseIfKnown(call: CallApi, deviceId: string): Promise<void> {
  const { status, text } = await call('GET', pathOf(deviceId))
  if (status === 404) return
  if (status !== 200) throw new RegisterRefused(`The server answered ${status}: ${text}`)
  throw new RegisterRefused(
    `There is a device ${deviceId} that is not tagged "${simulatedTag}". Choose another --prefix.`,
  )
}

async function wanted(
  call: CallApi,
  method: string,
  path: string,
  options?: { body: object },
): Promise<unknown> {
  const { status, text } = await call(method, path, options)
  if (status >= 300) throw new RegisterRefused(`The server answered ${status} to ${method} ${path}: ${text}`)
  return JSON.parse(text)
}

function pathOf(deviceId: string): string {
  return `/job/api/devices/${encodeURIComponent(deviceId)}`
}

/** The results are in the order of the items. */
async function inParallel<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  act: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const waiting = items.entries()
  const workOff = async () => {
    for (const [index, item] of waiting) results[index] = await act(item)
  }
  await Promise.all(Array.from({ length: atOnce }, workOff))
  return results
}
