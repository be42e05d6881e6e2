// The fields of a device that its owner puts, as they are stored.

import { tagOf } from '../common/entity-tag.ts'
import type { OwnFields, PutFields } from './ports/devices.ts'

/** Every field that a put sets, and nothing else; omitted ones have their defaults. */
export function ownFields({ deviceName, tags, attributes = {}, window = null }: PutFields): OwnFields {
  return { deviceName, tags, attributes, window }
}

export function deviceTag(device: PutFields): string {
  const { attributes, ...others } = ownFields(device)
  const inOrder = Object.entries(attributes).sort(([one], [other]) => (one < other ? -1 : 1))
  // Without null, so that a new field does not change the tags of devices that do not have it.
  const fields = Object.entries(others).filter(([, value]) => value !== null)
  return tagOf([...fields, inOrder])
}
