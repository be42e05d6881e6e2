// Flags of `jobcast sim` -> options of a simulated fleet. Reports all problems together.

import { mqttAddress, mqttAddressBeside, type Pattern, type Range } from '@jobcast/sim'
import { isHttpUrl } from '../service/http-url.ts'
import { type BrokerFlags, type BrokerSignIn, brokerOf } from './sim-broker.ts'

export type SimFlags = BrokerFlags & {
  server?: string
  apiKey?: string
  tenant: string
  devices: string
  prefix: string
  workSeconds: string
  failureRate: string
  rejectRate: string
  offlineRate: string
  offlineSeconds: string
  outputLines: string
  seed?: string
  quiet?: boolean
}

export type SimOptions = {
  server: string
  apiKey: string
  /** Where devices connect: to the service, or to the broker. */
  mqtt: string
  broker: BrokerSignIn | undefined
  protocol: 'mqtt' | 'ddi'
  tenant: string
  deviceIds: string[]
  pattern: Pattern
  seed: number
  quiet: boolean
}

// A machine has about 28,000 ephemeral ports for connections to one address.
const maxDevices = 25_000
const aDay = 86_400

/** Everything that is wrong with the flags. */
export class SimFlagError extends Error {
  readonly problems: readonly string[]
  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

export function simOptionsOf(flags: SimFlags): SimOptions {
  const problems: string[] = []
  const count = (flag: string, text: string, min: number, max: number) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (!(number >= min && number <= max))
      problems.push(`--${flag} is "${text}", not an integer from ${min} to ${max}`)
    return number
  }
  const share = (flag: string, text: string) => {
    const number = text.trim() === '' ? Number.NaN : Number(text)
    if (!(number >= 0 && number <= 1)) problems.push(`--${flag} is "${text}", not a number from 0 to 1`)
    return number
  }
  const range = (flag: string, text: string): Range => {
    const [, from = '', to = from] = /^(\d+(?:\.\d+)?)(?:-(\d+(?:\.\d+)?))?$/.exec(text) ?? []
    const isRange = from !== '' && Number(from) <= Number(to) && Number(to) <= aDay
    if (!isRange) problems.push(`--${flag} is "${text}", not a range such as 1-5 or a number, up to ${aDay}`)
    return { from: Number(from), to: Number(to) }
  }
  const pattern = {
    workSeconds: range('work-seconds', flags.workSeconds),
    failureRate: share('failure-rate', flags.failureRate),
    rejectRate: share('reject-rate', flags.rejectRate),
    offlineRate: share('offline-rate', flags.offlineRate),
    offlineSeconds: range('offline-seconds', flags.offlineSeconds),
    outputLines: count('output-lines', flags.outputLines, 0, 1000),
  }
  if (pattern.failureRate + pattern.rejectRate > 1)
    problems.push('--failure-rate and --reject-rate add up to more than 1')
  const devices = count('devices', flags.devices, 1, maxDevices)
  const { prefix, apiKey = '' } = flags
  if (!/^[^\p{Cc}\p{Cs}/+#?]{1,120}$/u.test(prefix))
    problems.push(`--prefix is "${prefix}", not 1 to 120 characters without / + # ?`)
  if (apiKey === '') problems.push('--api-key or JOBCAST_API_KEY must be set to an API key')
  const broker = brokerOf(flags, problems)
  const { server, mqtt } = addressesOf(flags, problems)
  const seed = flags.seed === undefined ? randomSeed() : count('seed', flags.seed, 0, 2 ** 32 - 1)
  if (problems.length > 0) throw new SimFlagError(problems)
  const deviceIds = Array.from({ length: devices }, (_, index) => `${prefix}${index + 1}`)
  const { protocol, tenant, quiet = false } = flags
  return {
    server,
    apiKey,
    mqtt: broker?.url ?? mqtt,
    broker,
    protocol,
    tenant,
    deviceIds,
    pattern,
    seed,
    quiet,
  }
}

function addressesOf({ server = '', mqtt }: SimFlags, problems: string[]): { server: string; mqtt: string } {
  if (!isHttpUrl(server)) {
    problems.push('--server or JOBCAST_URL must be an address such as http://127.0.0.1:8080')
    return { server: '', mqtt: '' }
  }
  const address = mqtt ?? mqttAddressBeside(server)
  try {
    mqttAddress(address)
  } catch (error) {
    problems.push(`--mqtt: ${(error as Error).message}`)
  }
  return { server, mqtt: address }
}

function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 32)
}
