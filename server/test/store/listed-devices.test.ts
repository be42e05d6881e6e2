// A long list of devices in columns is used like a list of objects, and takes up far less memory.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import v8 from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ListedDevices, numbersOf } from '../../src/store/postgres/listed-devices.ts'

const deviceAt = (place: number) => ({
  deviceNo: place * 3,
  deviceId: `device-${place}`,
  deviceName: `"${place}" \\ é 🚀`,
})

/** In slices of these sizes. */
function listOf(...sizes: number[]) {
  const list = new ListedDevices()
  let place = 0
  for (const size of sizes) {
    const devices = Array.from({ length: size }, () => deviceAt(place++))
    list.add({
      deviceIds: devices.map(({ deviceId }) => deviceId),
      deviceNos: Int32Array.from(devices, ({ deviceNo }) => deviceNo),
      names: JSON.stringify(devices.map(({ deviceName }) => deviceName)),
    })
  }
  return list
}

test('it answers as a list of the same devices does, in whatever order it is asked', () => {
  const list = listOf(3, 0, 1, 5)
  const devices = Array.from({ length: 9 }, (_, place) => deviceAt(place))
  assert.equal(list.length, 9)
  assert.deepEqual([...list], devices)
  assert.deepEqual([...list.entries()], [...devices.entries()])
  for (const place of [8, 0, 4, 3, 2, 7, 5, 1, 6]) assert.deepEqual(list.at(place), devices[place])
  assert.deepEqual([list.at(9), list.at(-1)], [undefined, undefined])
  assert.deepEqual([...numbersOf(list)], [...numbersOf(devices)])
  const idAndPlace = ({ deviceId }: { deviceId: string }, place: number) => `${place} ${deviceId}`
  assert.deepEqual(list.map(idAndPlace), devices.map(idAndPlace))
  const seen: string[] = []
  list.forEach((device, place) => {
    seen.push(idAndPlace(device, place))
  })
  assert.deepEqual(seen, devices.map(idAndPlace))
  assert.ok(list.every(({ deviceNo }, place) => deviceNo === 3 * place))
  assert.ok(!list.every(({ deviceNo }) => deviceNo < 24))
})

test('of many devices it keeps no object each, and no text for each name', () => {
  const count = 100_000
  const deviceIds = Array.from({ length: count }, (_, place) => `device-${place}`)
  const deviceNames = deviceIds.map((deviceId) => `name of ${deviceId}`)
  const slice = {
    deviceIds,
    deviceNos: Int32Array.from(deviceIds, (_, place) => place),
    names: Buffer.from(JSON.stringify(deviceNames)).toString(),
  }
  deviceNames.length = 0
  const before = liveBytes()
  const list = new ListedDevices()
  list.add(slice)
  for (const deviceNo of numbersOf(list)) assert.ok(deviceNo < count)
  const used = liveBytes() - before
  assert.ok(used < count * 8, `${used} bytes more for ${count} devices`)
  assert.equal(list.length, count)
})

function liveBytes(): number {
  v8.setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return v8.getHeapStatistics().used_heap_size
}
