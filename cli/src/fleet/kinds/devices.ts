// Devices in a fleet file.

import { attributeProblem, devices, isTimeZone } from '@jobcast/contract'
import { type Fields, kindOf, sorted } from './kind.ts'

export const deviceKind = kindOf(devices, {
  refusal(_name, { attributes = {}, timeZone }) {
    for (const [name, value] of Object.entries(attributes as Fields)) {
      const problem = name === 'timeZone' ? 'is a field of its own' : attributeProblem(name, value)
      if (problem) return `attribute ${JSON.stringify(name)} ${problem}`
    }
    const isWrong = typeof timeZone === 'string' && !isTimeZone(timeZone)
    return isWrong ? 'timeZone is not the name of an IANA time zone' : undefined
  },
  filled: (name, { deviceName = name, tags = [], attributes = {} }) => {
    return { deviceName, tags: sorted(tags), attributes }
  },
})
