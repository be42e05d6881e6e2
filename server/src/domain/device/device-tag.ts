import { tagOf } from '../common/entity-tag.ts'
import type { OwnFields } from './ports/devices.ts'

/** What a put sets: every field that there is, so that none is forgotten. */
export function ownFields({
  deviceName,
  tags,
  attributes = {},
  window = null,
}: OwnFields): Required<OwnFields> {
  return { deviceName, tags, attributes, window }
}

export function deviceTag(device: OwnFields): string {
  const { attributes, window, ...others } = ownFields(device)
  const inOrder = Object.entries(attributes).sort(([one], [other]) => (one < other ? -1 : 1))
  // Those of devices without one are what they were before there were any.
  return tagOf([...Object.values(others), inOrder, ...(window === null ? [] : [window])])
}
