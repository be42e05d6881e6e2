// The fields of a device that its owner puts, as content of a put and in responses: the time zone is a field of its own, while
// it is stored as one of the attributes.

import type { DeviceContent } from '@jobcast/contract'
import { ownAttributes } from './attributes.ts'
import { ownFields } from './own-fields.ts'
import type { OwnFields } from './ports/devices.ts'

/** Throws J-500. */
export function fieldsOf(deviceId: string, content: DeviceContent): OwnFields {
  const { tags = [] } = content
  const attributes = ownAttributes(content)
  return ownFields({ deviceName: deviceId, ...content, tags: tags.toSorted(), attributes })
}

/** The content of a put that would change nothing. */
export function contentOf(device: OwnFields): Required<DeviceContent> {
  const { deviceName, tags, attributes: all, ...others } = ownFields(device)
  const { timeZone, ...attributes } = all
  const zone = timeZone === undefined ? null : String(timeZone)
  return { deviceName, tags, attributes, timeZone: zone, ...others }
}
