// A whole server in this process, on a free port and in its own folder.

import { join } from 'node:path'
import {
  type Config,
  noQuotas,
  type RunningServer,
  readAdminKey,
  type StartOptions,
  startServer,
} from '@jobcast/server'
import { type Api, buildApi } from './call-api.ts'
import { createDatabase, sharedPostgres } from './postgres-server.ts'
import { type Ending, newDataFolder, removeAfter } from './temporary-folder.ts'

export type OpenServer = Api & { server: RunningServer; folder: string }

export type ServerOptions = Partial<Config> & Pick<StartOptions, 'now' | 'elapsed' | 'readDisk'>

/** `npm test` runs the suites of the trigger and of devices on both stores. */
const isOnPostgres = process.env.JOBCAST_TEST_STORE === 'postgres'
const databases = new Map<string, Promise<string>>()

/** A server that restarts in the same folder gets the same database. */
function databaseOf(dataFolder: string): Promise<string> {
  const known = databases.get(dataFolder) ?? sharedPostgres().then(createDatabase)
  databases.set(dataFolder, known)
  return known
}

export async function openServer(t: Ending, options: ServerOptions = {}): Promise<OpenServer> {
  const { now, elapsed, readDisk, ...overrides } = options
  const dataFolder = overrides.dataFolder ?? newDataFolder()
  const config: Config = {
    host: '127.0.0.1',
    port: 0,
    mqttPort: 0,
    dataFolder,
    databaseUrl: isOnPostgres ? await databaseOf(dataFolder) : undefined,
    otlp: undefined,
    tls: undefined,
    deviceCa: undefined,
    deviceCrlFile: undefined,
    plaintextBeyondLoopback: false,
    maxDevices: 10_000,
    maxOutputBytes: 10 * 1024 * 1024,
    maxFileBytes: 2 * 1024 * 1024 * 1024,
    maxDownloads: 64,
    filesFolder: join(dataFolder, 'files'),
    filesBucket: undefined,
    minFreeDiskBytes: 0,
    quotas: noQuotas,
    rates: { address: 0, 'sign-in': 0, key: 0, owner: 0, device: 0, session: 0 },
    metrics: { host: '127.0.0.1', port: 0, isDefaultPort: false, isOnApi: true },
    cancelDeadlineSeconds: 60,
    sessionIdleSeconds: 3600,
    keepEventsDays: 7,
    keepAuditDays: 400,
    auditKeyFile: undefined,
    keepExecutionsDays: undefined,
    bridges: [],
    ddiPollSeconds: undefined,
    webhookAllow: [],
    trustedProxies: [],
    corsOrigins: [],
    publicUrl: undefined,
    oidc: undefined,
    oidcTrust: [],
    logLevel: 'silent',
    logTime: 'epoch',
    jsonLog: true,
    requestLogLevel: 'info',
    adminKey: undefined,
    secretsKeys: isOnPostgres ? [Buffer.alloc(32, 7)] : [],
    ...overrides,
  }
  const server = await startServer(config, {
    ...(now && { now }),
    ...(elapsed && { elapsed }),
    ...(readDisk && { readDisk }),
  })
  t.after(() => server.stop())
  if (overrides.dataFolder === undefined) removeAfter(t, config.dataFolder)
  const adminKey = server.newAdminKey ?? config.adminKey ?? readAdminKey(config.dataFolder)?.text ?? ''
  return { ...buildApi(server.http, adminKey), server, folder: config.dataFolder }
}
