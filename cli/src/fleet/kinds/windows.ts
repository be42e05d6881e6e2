// Windows in a fleet file.

import { deviceZone, isTimeZone, NewJobName, WindowContent, windowProblem } from '@jobcast/contract'
import { type Kind, largePages } from './kind.ts'

export const windows: Kind = {
  field: 'windows',
  noun: 'window',
  nameField: 'windowName',
  nameSchema: NewJobName,
  contentSchema: WindowContent,
  refusal(_name, content) {
    const { timeZone = deviceZone } = content
    if (timeZone !== deviceZone && !isTimeZone(String(timeZone))) {
      return 'timeZone is neither the name of an IANA time zone nor "device"'
    }
    return windowProblem(content as WindowContent)?.detail
  },
  filled: (_name, { cron, durationMinutes, timeZone = deviceZone, cutoffMinutes = 0, except = [] }) => {
    return { cron, durationMinutes, timeZone, cutoffMinutes, except }
  },
  list: (client) => client.windows.list(largePages),
  get: (client, name) => client.windows.get(name),
  async put(client, name, content) {
    await client.windows.put(name, content as WindowContent)
    return undefined
  },
  remove: (client, name) => client.windows.delete(name),
}
