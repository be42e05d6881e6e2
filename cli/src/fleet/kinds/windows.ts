// Windows in a fleet file.

import { deviceZone, isTimeZone, type WindowContent, windowProblem, windows } from '@jobcast/contract'
import { kindOf } from './kind.ts'

export const windowKind = kindOf(windows, {
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
})
