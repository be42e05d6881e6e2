// Flags of `jobcast sim` for devices on the user's own broker.

import { readFileSync } from 'node:fs'
import { mqttAddress } from '@jobcast/sim'

export type BrokerFlags = {
  mqtt?: string
  protocol: 'mqtt' | 'ddi'
  broker?: string
  brokerPrefix?: string
  brokerPasswordFile?: string
  brokerUser?: string
}

/** Without a password, devices connect without user name and password. Without a user name, it is the deviceId of each. */
export type BrokerSignIn = {
  url: string
  topicPrefix: string | undefined
  password: string | undefined
  userName: string | undefined
}

const tlsPort = 8883

/** Undefined: devices connect to the service. */
export function brokerOf(flags: BrokerFlags, problems: string[]): BrokerSignIn | undefined {
  const { broker, brokerPrefix: topicPrefix, brokerUser: userName } = flags
  const { brokerPasswordFile: file } = flags
  if (broker === undefined) {
    if ((flags.brokerPrefix ?? userName ?? file) !== undefined)
      problems.push('--broker-prefix, --broker-user and --broker-password-file need --broker')
    return undefined
  }
  if (flags.mqtt !== undefined || flags.protocol === 'ddi')
    problems.push('--broker cannot be used together with --mqtt or --protocol ddi')
  if (topicPrefix !== undefined && !/^[^/+#][^+#]*[^/+#]$/.test(topicPrefix))
    problems.push(`--broker-prefix is "${topicPrefix}", not a topic such as $aws/things`)
  if (userName !== undefined && file === undefined)
    problems.push('--broker-user needs --broker-password-file')
  return { url: addressOf(broker, problems), topicPrefix, userName, password: readPassword(file, problems) }
}

function addressOf(broker: string, problems: string[]): string {
  try {
    mqttAddress(broker)
  } catch (error) {
    problems.push(`--broker: ${(error as Error).message}`)
    return broker
  }
  const url = new URL(broker)
  if (url.username !== '' || url.password !== '')
    problems.push('--broker must not contain a password; set --broker-password-file')
  if (url.protocol === 'mqtts:' && url.port === '') url.port = String(tlsPort)
  return url.href
}

function readPassword(file: string | undefined, problems: string[]): string | undefined {
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    problems.push(`--broker-password-file cannot be read: ${(error as Error).message}`)
    return undefined
  }
}
