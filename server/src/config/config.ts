// Flags, environment and file -> one frozen, validated object. All problems are reported together.

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { parse as parseYaml } from 'yaml'
import type { Quotas } from '../domain/access/quotas.ts'
import { secretId } from '../domain/access/secret-text.ts'
import { isAddressRange } from '../domain/webhook/allowed-address.ts'
import type { BridgeSettings } from '../gateway/bridge/bridge-settings.ts'
import type { Rates } from '../limits/rate-limits.ts'
import { parseSecretsKeys } from '../secrets/secrets-key.ts'
import type { BucketSettings } from '../store/files/bucket-settings.ts'
import { readBridges } from './bridge-settings.ts'
import { readBucket } from './bucket-settings.ts'
import { ConfigError } from './config-error.ts'
import { isLoopback } from './is-loopback.ts'
import { unknownVariables } from './known-variables.ts'
import { type NumbersSetting, numberMeant, readNumbers } from './named-numbers.ts'
import { type OidcConfig, readOidc } from './oidc-settings.ts'
import { type OtlpSettings, readOtlp } from './otlp-settings.ts'
import { readOrigins } from './read-origins.ts'
import { readSecret } from './secret-setting.ts'
import {
  defaultMetricsPort,
  envName,
  type GivenSettings,
  type Setting,
  type SettingName,
  settings,
} from './settings.ts'

const leastIdleSeconds = 300
const logTimes = ['epoch', 'iso'] as const
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

export type Config = Readonly<{
  host: string
  port: number
  mqttPort: number
  dataFolder: string
  /** PostgreSQL URL, contains a password; undefined: the embedded database in the data folder. */
  databaseUrl: string | undefined
  /** Where traces are exported to. */
  otlp: OtlpSettings | undefined
  tls: Readonly<{ cert: string; key: string; files?: TlsFiles }> | undefined
  /** CAs trusted to sign device certificates; only with `tls`. */
  deviceCa: string | undefined
  /** File with revocation lists of these CAs. */
  deviceCrlFile: string | undefined
  plaintextBeyondLoopback: boolean
  maxDevices: number
  maxOutputBytes: number
  maxFileBytes: number
  maxDownloads: number
  /** Undefined: in a bucket, or not configured on PostgreSQL, where nodes must share it. */
  filesFolder: string | undefined
  /** Content of files is kept in it. */
  filesBucket: BucketSettings | undefined
  minFreeDiskBytes: number
  rates: Rates
  quotas: Quotas
  metrics: Readonly<{ host: string; port: number; isDefaultPort: boolean; isOnApi: boolean }>
  cancelDeadlineSeconds: number
  /** Sessions of the console end after this time without a request. */
  sessionIdleSeconds: number
  keepEventsDays: number
  keepAuditDays: number
  /** Undefined: the file in the data folder, or none on PostgreSQL. */
  auditKeyFile: string | undefined
  /** Undefined: forever. */
  keepExecutionsDays: number | undefined
  /** Brokers of the user that devices are connected to. */
  bridges: readonly BridgeSettings[]
  /** The poll interval of hawkBit devices; undefined: they are not served. */
  ddiPollSeconds: number | undefined
  /** Non-public addresses and ranges that webhooks may be sent to. */
  webhookAllow: readonly string[]
  /** Addresses and ranges of reverse proxies in front. */
  trustedProxies: readonly string[]
  /** Origins whose pages may call the API. */
  corsOrigins: readonly string[]
  logLevel: (typeof logLevels)[number]
  logTime: (typeof logTimes)[number]
  jsonLog: boolean
  /** The log level of successful requests. */
  requestLogLevel: 'info' | 'debug'
  /** For the first start on an empty database. */
  adminKey: string | undefined
  /** Keys for secret parameters; the first one is used to encrypt. */
  secretsKeys: readonly Buffer[]
}> &
  OidcConfig

/** The files of certificate and key, to read them again. */
export type TlsFiles = Readonly<{ cert: string; key: string }>

/** A flag wins over the environment, the environment over the file, the file over the default. */
export function loadConfig(flags: GivenSettings & { config?: string }, env = process.env): Config {
  const problems: string[] = unknownVariables(env)
  const file = readConfigFile(flags.config ?? env.JOBCAST_CONFIG, problems)
  const read = (name: SettingName) => readSetting(name, flags, env, file, problems)

  const host = read('host') as string
  const port = read('port') as number
  const maxDevices = read('max-devices') as number
  const sessionIdleSeconds = read('session-idle-timeout') as number
  // The last use is written once a minute: a shorter timeout would end sessions that are in use on another node.
  if (sessionIdleSeconds < leastIdleSeconds)
    problems.push(`session-idle-timeout is ${sessionIdleSeconds}, less than ${leastIdleSeconds}`)
  const logLevel = read('log-level') as Config['logLevel']
  const tls = readTls(read('tls-cert') as string | undefined, read('tls-key') as string | undefined, problems)
  const deviceCa = readDeviceCa(read('device-ca') as string | undefined, tls, problems)
  const deviceCrlFile = read('device-crl') as string | undefined
  checkDeviceCrl(deviceCrlFile, deviceCa, problems)
  const plaintextBeyondLoopback = tls === undefined && !isLoopback(host)
  const allowPlaintext = read('allow-plaintext') as boolean
  if (plaintextBeyondLoopback && !allowPlaintext) {
    problems.push(
      `host ${host} is not loopback: API keys and device tokens would be sent in clear text. ` +
        'Set --tls-cert and --tls-key, or --allow-plaintext if a proxy in front terminates TLS.',
    )
  }
  if (maxDevices > 1_000_000) problems.push(`max-devices is ${maxDevices}, more than 1000000`)
  const keepEventsDays = read('keep-events') as number
  const keepExecutionsDays = read('keep-executions') as number | undefined
  if (keepExecutionsDays !== undefined) checkRetention(keepExecutionsDays, keepEventsDays, problems)
  if (!logLevels.includes(logLevel))
    problems.push(`log-level is "${logLevel}", not one of ${logLevels.join(', ')}`)
  const logTime = read('log-time') as Config['logTime']
  if (!logTimes.includes(logTime))
    problems.push(`log-time is "${logTime}", not one of ${logTimes.join(', ')}`)
  const adminKey = readSecret('JOBCAST_ADMIN_KEY', env, problems)
  if (adminKey !== undefined && secretId('jc', adminKey) === undefined) {
    problems.push('JOBCAST_ADMIN_KEY is not a well-formed API key; "jobcast new-key" prints one')
  }
  const dataFolder = read('data') as string
  const databaseUrl = readDatabaseUrl(readSecret('DATABASE_URL', env, problems), problems)
  const filesBucket = readBucket(read, env, problems)
  const filesFolder = filesBucket ? undefined : readFilesFolder(read, databaseUrl, dataFolder)
  const config = {
    host,
    port,
    mqttPort: read('mqtt-port') as number,
    dataFolder,
    databaseUrl,
    otlp: readOtlp(env, problems),
    tls,
    deviceCa,
    deviceCrlFile,
    plaintextBeyondLoopback,
    maxDevices,
    maxOutputBytes: read('max-output-bytes') as number,
    maxFileBytes: read('max-file-bytes') as number,
    maxDownloads: read('max-downloads') as number,
    ...{ filesFolder, filesBucket },
    minFreeDiskBytes: (read('min-free-disk') as number) * 1024 * 1024,
    rates: read('rate') as Rates,
    quotas: read('quota') as Quotas,
    metrics: readMetrics(read, port),
    cancelDeadlineSeconds: read('cancel-deadline') as number,
    sessionIdleSeconds,
    keepEventsDays,
    keepAuditDays: read('keep-audit') as number,
    auditKeyFile: read('audit-key') as string | undefined,
    keepExecutionsDays,
    bridges: readBridges(
      {
        read,
        env,
        filed: file.bridge,
        isGiven: Boolean(flags.bridge ?? env.JOBCAST_BRIDGE),
        allowPlaintext,
      },
      problems,
    ),
    ddiPollSeconds: readDdiPoll(read, problems),
    webhookAllow: readAddresses('webhook-allow', read, problems),
    trustedProxies: readAddresses('trusted-proxies', read, problems),
    corsOrigins: readOrigins(read('cors-origins') as string | undefined, problems),
    ...readOidc(read, problems),
    logLevel,
    logTime,
    jsonLog: read('json-log') as boolean,
    requestLogLevel: 'info' as const,
    adminKey,
    secretsKeys: readSecretsKeys(env, problems),
  }
  if (problems.length > 0) throw new ConfigError([...new Set(problems)])
  return Object.freeze(config)
}

/**
 * Where the data is, for commands that need nothing else. A folder given as a flag takes precedence over DATABASE_URL:
 * when moving data from one to the other, both are set.
 */
export function loadPlace(
  dataFlag: string | undefined,
  env = process.env,
): Pick<Config, 'dataFolder' | 'databaseUrl'> {
  const problems: string[] = []
  const dataFolder = readSetting('data', { data: dataFlag }, env, {}, problems) as string
  const databaseUrl =
    dataFlag === undefined ? readDatabaseUrl(readSecret('DATABASE_URL', env, problems), problems) : undefined
  if (problems.length > 0) throw new ConfigError(problems)
  return { dataFolder, databaseUrl }
}

/** Also used by commands that need no other settings. */
export function readSecretsKeys(env: NodeJS.ProcessEnv, problems: string[]): readonly Buffer[] {
  const text = readSecret('JOBCAST_SECRETS_KEY', env, problems)
  if (text === undefined) return []
  const keys = parseSecretsKeys(text)
  if (keys === undefined) {
    problems.push(
      'JOBCAST_SECRETS_KEY is not one or more keys of 32 bytes in base64; "jobcast secrets new-key" prints one',
    )
  }
  return keys ?? []
}

const ranges = {
  port: { low: 0, high: 65_535, words: 'a port from 0 to 65535' },
  count: { low: 1, high: Number.MAX_SAFE_INTEGER, words: 'a whole number above 0' },
  amount: { low: 0, high: Number.MAX_SAFE_INTEGER, words: 'a whole number' },
}

type Read = (name: SettingName) => unknown

/** If the system chooses the port of the API, it also chooses that of metrics. */
function readMetrics(read: Read, apiPort: number): Config['metrics'] {
  const port = read('metrics-port') as number | undefined
  return {
    host: read('metrics-host') as string,
    port: port ?? (apiPort === 0 ? 0 : defaultMetricsPort),
    isDefaultPort: port === undefined,
    isOnApi: read('metrics-on-api') as boolean,
  }
}

function readFilesFolder(
  read: Read,
  databaseUrl: string | undefined,
  dataFolder: string,
): string | undefined {
  const folder = read('files-folder') as string | undefined
  return folder ?? (databaseUrl === undefined ? filesFolderIn(dataFolder) : undefined)
}

/** The default folder for content of files. */
export function filesFolderIn(dataFolder: string): string {
  return join(dataFolder, 'files')
}

// The maximum of the format HH:mm:ss.
const longestPollSeconds = 86_399

function readDdiPoll(read: Read, problems: string[]): number | undefined {
  const seconds = read('ddi-poll') as number
  if (seconds > longestPollSeconds) problems.push(`ddi-poll is ${seconds}, more than ${longestPollSeconds}`)
  return read('ddi') ? seconds : undefined
}

function readSetting(
  name: SettingName,
  flags: GivenSettings,
  env: NodeJS.ProcessEnv,
  file: Record<string, unknown>,
  problems: string[],
): unknown {
  const { kind, default: fallback }: Setting = settings[name]
  const [flag, variable, filed] = [flags[name], env[envName(name)], file[name]]
  if (kind === 'numbers') return readNumbers(name as NumbersSetting, { flag, variable, filed }, problems)
  const given = flag ?? variable ?? filed
  if (given === undefined || given === null || given === '') return fallback
  const text = String(given)
  switch (kind) {
    case 'text':
      return text
    case 'document':
      return given
    case 'switch':
      if (!['true', 'false', '1', '0'].includes(text))
        problems.push(`${name} is "${text}", not true or false`)
      return text === 'true' || text === '1'
    default: {
      const { low, high, words } = ranges[kind]
      const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
      if (number >= low && number <= high) return number
      problems.push(`${name} is "${text}", not ${words}`)
      return fallback
    }
  }
}

/** Idempotent replays (one day) and events refer to runs, so runs must be retained at least as long. */
function checkRetention(executions: number, events: number, problems: string[]): void {
  if (executions < 2) problems.push(`keep-executions is ${executions}, less than 2 days`)
  if (executions < events) {
    problems.push(`keep-executions is ${executions}, less than keep-events (${events}): events refer to runs`)
  }
}

function readDatabaseUrl(text: string | undefined, problems: string[]): string | undefined {
  if (!text) return undefined
  if (!/^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? '')) {
    // The message does not contain the URL, which may have a password.
    problems.push('DATABASE_URL must have the form postgres://user:password@host:5432/database')
  }
  return text
}

function readAddresses(name: SettingName, read: Read, problems: string[]): string[] {
  const ranges = String(read(name) ?? '')
    .split(',')
    .map((each) => each.trim())
  const given = ranges.filter((each) => each !== '')
  for (const each of given) {
    if (!isAddressRange(each)) problems.push(`${name} has "${each}", which is not an address or range`)
  }
  return given
}

function readConfigFile(path: string | undefined, problems: string[]): Record<string, unknown> {
  if (!path) return {}
  try {
    const content: unknown = parseYaml(readFileSync(path, 'utf8')) ?? {}
    if (typeof content !== 'object' || Array.isArray(content)) throw new Error('it is not a map of settings')
    for (const name of Object.keys(content as object)) {
      const meant = numberMeant(name)
      const hint = meant ? `; use ${meant.setting}: {${meant.name}: …}` : ''
      if (!Object.hasOwn(settings, name)) problems.push(`${path}: "${name}" is not a setting${hint}`)
    }
    return content as Record<string, unknown>
  } catch (error) {
    problems.push(`the file ${path} cannot be read: ${(error as Error).message}`)
    return {}
  }
}

function readTls(
  certFile: string | undefined,
  keyFile: string | undefined,
  problems: string[],
): Config['tls'] {
  if (certFile === undefined && keyFile === undefined) return undefined
  if (certFile === undefined || keyFile === undefined) {
    problems.push('tls-cert and tls-key must be set together')
    return undefined
  }
  const [cert = '', key = ''] = [certFile, keyFile].map((path) => readPem(path, problems))
  try {
    if (cert !== '' && key !== '') createSecureContext({ cert, key })
  } catch (error) {
    problems.push(`tls-cert and tls-key cannot be used: ${(error as Error).message}`)
  }
  return { cert, key, files: { cert: certFile, key: keyFile } }
}

function readDeviceCa(file: string | undefined, tls: Config['tls'], problems: string[]): string | undefined {
  if (file === undefined) return undefined
  if (tls === undefined) problems.push('device-ca needs tls-cert and tls-key')
  const ca = readPem(file, problems)
  try {
    if (ca !== '') new X509Certificate(ca)
  } catch (error) {
    problems.push(`device-ca cannot be used: ${(error as Error).message}`)
  }
  return ca
}

function checkDeviceCrl(file: string | undefined, deviceCa: string | undefined, problems: string[]): void {
  if (file === undefined) return
  if (deviceCa === undefined) problems.push('device-crl needs device-ca')
  const crl = readPem(file, problems)
  try {
    // Several lists in one file are checked one by one when the listener starts.
    if (crl !== '') createSecureContext({ crl })
  } catch (error) {
    problems.push(`device-crl cannot be used: ${(error as Error).message}`)
  }
}

function readPem(path: string, problems: string[]): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    problems.push(`the file ${path} cannot be read: ${(error as Error).message}`)
    return ''
  }
}
