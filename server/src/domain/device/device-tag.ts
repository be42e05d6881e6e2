import { tagOf } from '../common/entity-tag.ts'
import type { StoredDevice } from './ports/devices.ts'

type DeviceContent = Pick<StoredDevice, 'deviceName' | 'tags' | 'attributes'>

export function deviceTag({ deviceName, tags, attributes }: DeviceContent): string {
  const inOrder = Object.entries(attributes).sort(([one], [other]) => (one < other ? -1 : 1))
  return tagOf([deviceName, tags, inOrder])
}
