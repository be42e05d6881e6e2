import { tagOf } from '../common/entity-tag.ts'
import type { OwnFields } from './ports/devices.ts'

/** What a put sets: every field that there is, so that none is forgotten. */
export function ownFields({ deviceName, tags, attributes = {} }: OwnFields): Required<OwnFields> {
  return { deviceName, tags, attributes }
}

export function deviceTag(device: OwnFields): string {
  const { attributes, ...others } = ownFields(device)
  const inOrder = Object.entries(attributes).sort(([one], [other]) => (one < other ? -1 : 1))
  return tagOf([...Object.values(others), inOrder])
}
