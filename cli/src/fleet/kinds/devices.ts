// Devices in a fleet file.

import { attributeProblem, DeviceContent, isTimeZone, NewDeviceId } from '@jobcast/contract'
import { type Fields, type Kind, largePages, sorted } from './kind.ts'

export const devices: Kind = {
  field: 'devices',
  noun: 'device',
  nameField: 'deviceId',
  nameSchema: NewDeviceId,
  contentSchema: DeviceContent,
  refusal(_name, { attributes = {}, timeZone }) {
    for (const [name, value] of Object.entries(attributes as Fields)) {
      const problem = name === 'timeZone' ? 'is a field of its own' : attributeProblem(name, value)
      if (problem) return `attribute ${JSON.stringify(name)} ${problem}`
    }
    const isWrong = typeof timeZone === 'string' && !isTimeZone(timeZone)
    return isWrong ? 'timeZone is not the name of an IANA time zone' : undefined
  },
  filled: (name, { deviceName = name, tags = [], attributes = {}, timeZone = null }) => {
    return { deviceName, tags: sorted(tags), attributes, timeZone }
  },
  list: (client) => client.devices.list(largePages),
  get: (client, name) => client.devices.get(name),
  async put(client, name, content) {
    await client.devices.put(name, content)
    return undefined
  },
  remove: (client, name) => client.devices.delete(name),
}
