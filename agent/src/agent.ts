// Starts and stops an agent: builds its parts and wires them together.

import { resolve } from 'node:path'
import type { Certificate } from './device/read-certificate.ts'
import { AttributeReporter } from './device/report-attributes.ts'
import type { Tell } from './events.ts'
import { recover } from './execution/recover.ts'
import { workLoop } from './execution/work-loop.ts'
import { FileCache } from './files/file-cache.ts'
import { checkHandlers } from './handler/check-handlers.ts'
import { userName } from './handler/user-name.ts'
import { readBootId } from './state/boot-id.ts'
import { Journal } from './state/journal.ts'
import { StartRefused } from './state/start-refused.ts'
import { openStateFolder, type StateFolder } from './state/state-folder.ts'
import { HttpTransport } from './transport/http-transport.ts'
import type { MqttTransportOptions } from './transport/mqtt-transport.ts'
import { type Backoff, defaultBackoff } from './transport/reconnect-delay.ts'
import type { Transport } from './transport/transport.ts'
import { Trust, type TrustOptions } from './trust/trust.ts'

export type AgentOptions = {
  deviceId: string
  /** Transport and address of the server; for HTTP, without a path. */
  server: {
    by: 'mqtt' | 'http'
    url: string
    topicPrefix?: string | undefined
    /** The device's certificate on a broker; read at every sign-in. */
    readCertificate?: (() => Certificate) | undefined
  }
  /** Read at every sign-in, so that a replaced token takes effect without a restart. Empty: the certificate is enough. */
  readToken: () => string
  handlersFolder: string
  stateFolder: string
  allowCommands: boolean
  /** A JSON object of attributes to report besides those that the agent knows. */
  attributesFile?: string
  /** Runs only what these authors have signed. */
  trust?: TrustOptions
  /** Per attempt; the server's own limit. */
  maxOutputBytes?: number
  /** Time between SIGTERM and SIGKILL. */
  graceMs?: number
  backoff?: Backoff
  /** Limit for downloads, in bytes per second. */
  maxRate?: number
  /** Limit of the cache of fetched files. */
  maxCacheBytes?: number
  /** How often an HTTP agent checks whether its running execution was canceled. */
  pollEveryMs?: number
  /** Identifies this boot of the machine: an execution that waits for a reboot resumes when it differs. */
  bootId?: string
  /** What handlers inherit, except JOBCAST_…. */
  environment?: NodeJS.ProcessEnv
  tell?: Tell
}

export type RunningAgent = {
  /** Ends the running execution, reports it if the server is reachable, then resolves. May be called twice. */
  stop(): Promise<void>
}

export const defaultMaxOutputBytes = 10 * 1024 * 1024
/** Holds two firmware images of an embedded Linux. */
const defaultMaxCacheBytes = 1024 * 1024 * 1024
const defaultGraceMs = 5000
/** How long a stop waits for the final report; otherwise it is sent after the next start. */
const finalReportMs = 3000

/** Throws StartRefused for problems that the user can fix. */
export async function startAgent(options: AgentOptions): Promise<RunningAgent> {
  const { deviceId, server, readToken, backoff = defaultBackoff } = options
  // Handlers run in their own working folders, where a relative path would point elsewhere.
  const handlersFolder = resolve(options.handlersFolder)
  const tell = options.tell ?? (() => undefined)
  if (process.platform === 'win32') throw new StartRefused('The agent needs a system with process groups.')
  for (const problem of await checkHandlers(handlersFolder)) tell({ kind: 'handlers-writable', problem })
  const state = await openStateFolder(resolve(options.stateFolder))
  const trust = await openTrust(options, state, () => attributes.current())
  const journal = await openJournal(state, tell)
  const transport = await buildTransport(options, { url: server.url, deviceId, readToken, backoff, tell })
  const stopping = new AbortController()
  const closing = new AbortController()
  const deps = {
    deviceId,
    transport,
    backoff,
    journal,
    state,
    cache: new FileCache(state.files, options.maxCacheBytes ?? defaultMaxCacheBytes),
    maxRate: options.maxRate,
    expiredUrls: { name: '', times: 0 },
    bootId: options.bootId ?? readBootId(),
    graceMs: options.graceMs ?? defaultGraceMs,
    environment: options.environment ?? process.env,
    maxOutputBytes: options.maxOutputBytes ?? defaultMaxOutputBytes,
    rules: { allowCommands: options.allowCommands, userName: userName(), handlersFolder },
    stopping: stopping.signal,
    closing: closing.signal,
    tell,
  }
  const attributes = new AttributeReporter({
    transport,
    backoff,
    file: options.attributesFile && resolve(options.attributesFile),
    kept: state.attributes,
    stopping: stopping.signal,
    tell,
  })
  await recover(deps)
  transport.start()
  attributes.start()
  const working = workLoop({ ...deps, trust, onCarriedOut: () => attributes.report() })

  async function stopOnce(): Promise<void> {
    const isRunning = journal.unsettled().some(({ phase }) => phase === 'started')
    stopping.abort()
    const timer = setTimeout(() => closing.abort(), finalReportMs + (isRunning ? deps.graceMs : 0))
    await working
    clearTimeout(timer)
    await attributes.stopped()
    await transport.stop()
    await journal.close()
    state.release()
  }

  let stopped: Promise<void> | undefined
  return {
    stop() {
      stopped ??= stopOnce()
      return stopped
    },
  }
}

/** The MQTT library takes memory, so it is loaded only where it is used. */
async function buildTransport(
  { server, pollEveryMs }: AgentOptions,
  link: MqttTransportOptions,
): Promise<Transport> {
  if (server.by === 'http') return new HttpTransport({ ...link, ...(pollEveryMs && { pollEveryMs }) })
  const { MqttTransport } = await import('./transport/mqtt-transport.ts')
  const { topicPrefix, readCertificate } = server
  return new MqttTransport({ ...link, topicPrefix, readCertificate })
}

async function openJournal(state: StateFolder, tell: Tell): Promise<Journal> {
  try {
    return await Journal.open(state.journal, (keptAs) => tell({ kind: 'journal-replaced', keptAs }))
  } catch (error) {
    state.release()
    throw new StartRefused(`The journal ${state.journal} cannot be used: ${(error as Error).message}`)
  }
}

async function openTrust(
  { trust, deviceId }: AgentOptions,
  state: StateFolder,
  attributes: () => Record<string, unknown>,
): Promise<Trust | undefined> {
  if (trust === undefined) return undefined
  const options = { ...trust, keysFile: resolve(trust.keysFile) }
  try {
    return await Trust.open(options, state.versions, { deviceId, attributes, now: Date.now })
  } catch (error) {
    state.release()
    throw error
  }
}
