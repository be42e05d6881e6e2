// The answer to a trigger, written piece by piece: at 10,000 devices JSON.stringify of as many objects
// takes longer than writing them to disk does.

import { toLaunchedAt } from '@jobcast/contract'
import type { LaunchedRun } from '../domain/store.ts'

type NamedDevice = LaunchedRun['devices'][number]

// A device is answered again and again; its two fields are spelled once. Gone when the device is.
const spelled = new WeakMap<NamedDevice, string>()

export function triggeredJson({ jobName, launchedAt, firstExecutionId, devices }: LaunchedRun): string {
  const middle = `,"jobName":${JSON.stringify(jobName)},`
  const end = `,"execState":"PENDING","launchedAt":"${toLaunchedAt(launchedAt)}"}`
  let text = ''
  for (let index = 0; index < devices.length; index++) {
    text += index === 0 ? '[{"jobExecutionId":' : ',{"jobExecutionId":'
    text += firstExecutionId + index + middle + deviceFields(devices[index] as NamedDevice) + end
  }
  return `${text}]`
}

function deviceFields(device: NamedDevice): string {
  let fields = spelled.get(device)
  if (fields === undefined) {
    fields = `"deviceId":${JSON.stringify(device.deviceId)},"deviceName":${JSON.stringify(device.deviceName)}`
    spelled.set(device, fields)
  }
  return fields
}
