// Brokers of the user: one from flags and environment, or several from the configuration file, as a map by name.

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type BridgeSettings, defaultPrefix } from '../gateway/bridge/bridge-settings.ts'
import { checkBridge, checkClientIds } from './check-bridge.ts'
import { ConfigError } from './config-error.ts'
import { readSecret } from './secret-setting.ts'
import type { SettingName } from './settings.ts'

type Sources = {
  read: (name: SettingName) => unknown
  env: NodeJS.ProcessEnv
  /** The value of `bridge` in the configuration file. */
  filed: unknown
  /** A flag or a variable sets the broker; then those of the file are not used. */
  isGiven: boolean
  /** Passwords may be sent unencrypted beyond loopback. */
  allowPlaintext: boolean
}

type Secrets = Pick<BridgeSettings, 'user' | 'password' | 'ca' | 'cert' | 'key'>
type Terms = Pick<BridgeSettings, 'ownerName' | 'prefix' | 'silenceMs' | 'enroll' | 'events'>

/** The name of the bridge from flags and environment. */
const onlyName = 'b1'
const maxBridges = 20
const secretNames = ['USER', 'PASSWORD', 'CA', 'CERT', 'KEY'].map((each) => `JOBCAST_BRIDGE_${each}`)
const namePattern = /^[A-Za-z0-9_-]{1,32}$/
const fileKeys = [
  ...['url', 'owner', 'prefix', 'silence', 'enroll', 'events', 'client-id'],
  ...['user', 'user-file', 'password-file', 'ca-file', 'cert-file', 'key-file'],
]

export function readBridges(sources: Sources, problems: string[]): readonly BridgeSettings[] {
  const { read, env, filed, isGiven, allowPlaintext } = sources
  const terms = readTerms(read)
  if (!isGiven && typeof filed === 'object' && filed !== null) {
    refuseForMap(sources, problems)
    const bridges = readMap(filed, terms, problems)
    for (const each of bridges) checkBridge(each, allowPlaintext, problems)
    checkClientIds(bridges, problems)
    return bridges
  }
  const url = read('bridge') as string | undefined
  if (url === undefined) return []
  const secret = (name: Parameters<typeof readSecret>[0]) => readSecret(name, env, problems)
  const secrets = {
    user: secret('JOBCAST_BRIDGE_USER'),
    password: secret('JOBCAST_BRIDGE_PASSWORD'),
    ca: secret('JOBCAST_BRIDGE_CA'),
    cert: secret('JOBCAST_BRIDGE_CERT'),
    key: secret('JOBCAST_BRIDGE_KEY'),
  }
  const clientId = read('bridge-client-id') as string | undefined
  const bridge = withClientId({ bridgeName: onlyName, url, clientId, ...secrets, ...terms })
  checkBridge(bridge, allowPlaintext, problems, 'bridge')
  return [bridge]
}

/** Refuses variables for a single broker together with a map: it is not clear which broker they are for, and a password must not be sent to all. */
function refuseForMap({ read, env }: Sources, problems: string[]): void {
  const given = secretNames.flatMap((name) => [name, `${name}_FILE`]).filter((name) => env[name])
  if (read('bridge-client-id') !== undefined) given.push('bridge-client-id')
  for (const name of given)
    problems.push(`${name} is for a single bridge; set it for each bridge of the map in the file`)
}

/** Loads a bridge by its URL, with the secrets of the environment. */
export function loadBridge(url: string, prefix = defaultPrefix, env: NodeJS.ProcessEnv): BridgeSettings {
  const given: Partial<Record<SettingName, unknown>> = {
    ...{ bridge: url, 'bridge-prefix': prefix, 'bridge-owner': 'default' },
    ...{ 'bridge-silence': 600, 'bridge-enroll': false },
  }
  const problems: string[] = []
  const sources = { read: (name: SettingName) => given[name], env, filed: undefined }
  // Doctor reports unencrypted passwords, and continues.
  const [settings] = readBridges({ ...sources, isGiven: true, allowPlaintext: true }, problems)
  if (settings === undefined || problems.length > 0) throw new ConfigError(problems)
  return settings
}

function readTerms(read: Sources['read']): Terms {
  return {
    ownerName: read('bridge-owner') as string,
    prefix: read('bridge-prefix') as string,
    silenceMs: (read('bridge-silence') as number) * 1000,
    enroll: read('bridge-enroll') as boolean,
    events: read('bridge-events') as string | undefined,
  }
}

/** Values that a bridge does not set are taken from the other settings. */
function readMap(filed: object, terms: Terms, problems: string[]): BridgeSettings[] {
  const entries = Object.entries(filed)
  if (Array.isArray(filed) || entries.length > maxBridges) {
    problems.push(`bridge in the file is not a URL or a map of at most ${maxBridges} names`)
    return []
  }
  return entries.flatMap(([bridgeName, value]: [string, unknown]) => {
    const where = `bridge ${bridgeName.slice(0, 100)}`
    if (!namePattern.test(bridgeName))
      problems.push(`${where}: a name is 1 to 32 letters, digits, "-" or "_"`)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      problems.push(`${where} is not a map of settings`)
      return []
    }
    return [readOne(where, bridgeName, value as Record<string, unknown>, terms, problems)]
  })
}

function readOne(
  where: string,
  bridgeName: string,
  given: Record<string, unknown>,
  terms: Terms,
  problems: string[],
): BridgeSettings {
  for (const key of Object.keys(given))
    if (!fileKeys.includes(key))
      problems.push(`${where}: "${key.slice(0, 100)}" is not a setting; there are ${fileKeys.join(', ')}`)
  const text = (key: string) =>
    given[key] === undefined || given[key] === null ? undefined : String(given[key])
  const fromFile = (key: string) => readFileOf(where, key, text(`${key}-file`), problems)
  const seconds = text('silence')
  if (seconds !== undefined && !/^[1-9]\d{0,8}$/.test(seconds))
    problems.push(`${where}: silence is "${seconds}", not a whole number above 0`)
  const enroll = text('enroll')
  if (enroll !== undefined && enroll !== 'true' && enroll !== 'false')
    problems.push(`${where}: enroll is "${enroll}", not true or false`)
  const secrets: Secrets = {
    user: text('user') ?? fromFile('user'),
    password: fromFile('password'),
    ca: fromFile('ca'),
    cert: fromFile('cert'),
    key: fromFile('key'),
  }
  const own: Terms = {
    ownerName: text('owner') ?? terms.ownerName,
    prefix: text('prefix') ?? terms.prefix,
    silenceMs: seconds === undefined ? terms.silenceMs : Number(seconds) * 1000,
    enroll: enroll === undefined ? terms.enroll : enroll === 'true',
    events: text('events') ?? terms.events,
  }
  const clientId = text('client-id')
  return withClientId({ bridgeName, url: text('url') ?? '', clientId, ...secrets, ...own })
}

function readFileOf(
  where: string,
  key: string,
  path: string | undefined,
  problems: string[],
): string | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    problems.push(`${where}: the file of ${key}-file cannot be read: ${(error as Error).message}`)
    return undefined
  }
}

function withClientId(
  bridge: Omit<BridgeSettings, 'clientId'> & { clientId: string | undefined },
): BridgeSettings {
  const { bridgeName, ownerName, prefix } = bridge
  const digits = hash('sha256', `${bridgeName} ${ownerName} ${prefix}`).slice(0, 14)
  return { ...bridge, clientId: bridge.clientId ?? `jobcast-${digits}` }
}
