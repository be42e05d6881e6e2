// One log line per event: JSON, or coloured text on a terminal.

import pino, { type Level, type Logger } from 'pino'
import pretty from 'pino-pretty'
import type { ServiceEvent, Tell } from './events.ts'
import { escapeUnsafe } from './printable.ts'
import { requestFields, requestLine } from './request-line.ts'

/** `requestLevel`: the level of successful requests. */
type LogOptions = {
  level: LogLevel
  json: boolean
  /** Replaces milliseconds, or the time of day on a terminal. */
  isoTime?: boolean
  requestLevel: 'info' | 'debug'
}

export type LogLevel = Level | 'silent'
type Log = { tell: Tell; setLevel: (level: LogLevel) => void; close: () => void }

const flushAfterMs = 100

const refusedWhen = {
  progress: 'output and progress reports are',
  triggers: 'output, progress reports and triggers are',
}

export function openLog({ level, json, isoTime = false, requestLevel }: LogOptions): Log {
  if (!json) {
    const stream = pretty({
      ignore: 'pid,hostname,method,route,status,ms',
      translateTime: isoTime ? "UTC:yyyy-mm-dd'T'HH:MM:ss.l'Z'" : 'SYS:HH:MM:ss.l',
      messageFormat: '{msg}{if method} {method} {route}: {status}{end}{if ms} in {ms} ms{end}',
      singleLine: true,
      sync: true,
    })
    // Escaped twice, because the printer parses the JSON and writes the values.
    const log = pino({ level }, { write: (line) => stream.write(escapeUnsafe(line, '\\')) })
    const request: LogRequest = (at, event) => log[at](requestFields(event), 'request')
    return { ...tellTo(log, requestLevel, request), close: () => undefined }
  }
  // Lines are buffered up to 16 KiB or 100 ms, to save a system call per request. If they cannot be written (full disk),
  // they are dropped beyond a few megabytes; the service continues.
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: 16 * 1024 - 1,
    maxLength: 4 * 1024 * 1024,
  })
  let isBroken = false
  let unwritten = 0
  destination.on('error', () => {
    isBroken = true
  })
  destination.on('write', (bytes: number) => {
    isBroken = false
    unwritten -= bytes
  })
  destination.on('drop', (line: string) => {
    unwritten -= Buffer.byteLength(line)
  })
  // Its own periodicFlush is not used, because it also wakes up ten times a second when there is nothing to write.
  let flushing: NodeJS.Timeout | undefined
  const flush = () => {
    flushing = undefined
    destination.flush()
  }
  // A flush does nothing while an earlier write is in progress, for example because the reader of a pipe is slow.
  destination.on('drain', () => {
    if (unwritten > 0 && flushing === undefined) destination.flush()
  })
  const write = (line: string) => {
    unwritten += Buffer.byteLength(line)
    destination.write(line)
    flushing ??= setTimeout(flush, flushAfterMs).unref()
  }
  const formatters = { level: (label: string) => ({ level: label }) }
  const timestamp = isoTime ? pino.stdTimeFunctions.isoTime : pino.stdTimeFunctions.epochTime
  const log = pino(
    { level, base: null, formatters, timestamp },
    { write: (line) => write(escapeUnsafe(line)) },
  )
  const request: LogRequest = (at, event) => {
    if (log.isLevelEnabled(at))
      write(requestLine(at, isoTime ? `"${new Date().toISOString()}"` : Date.now(), event))
  }
  return {
    ...tellTo(log, requestLevel, request),
    // On a full disk flushSync would retry forever, here or when the process exits.
    close() {
      clearTimeout(flushing)
      if (isBroken) destination.destroy()
      else destination.flushSync()
    },
  }
}

type LogRequest = (
  level: 'info' | 'debug' | 'warn',
  event: Extract<ServiceEvent, { kind: 'request-answered' }>,
) => void

function tellTo(
  log: Logger,
  requestLevel: LogOptions['requestLevel'],
  logRequest: LogRequest,
): Pick<Log, 'tell' | 'setLevel'> {
  return {
    tell(event) {
      if (event.kind !== 'request-answered') logLine(log, event)
      else if (event.status < 400) logRequest(requestLevel, event)
      else logRequest(event.status >= 500 ? 'warn' : 'info', event)
    },
    setLevel(level) {
      log.level = level
    },
  }
}

function logLine(log: Logger, event: Exclude<ServiceEvent, { kind: 'request-answered' }>): void {
  switch (event.kind) {
    case 'request-failed':
      log.error(
        { requestId: event.requestId, route: event.route, err: event.error },
        'internal error while serving a request',
      )
      return
    case 'connection-refused':
      log.info({ code: event.code, address: event.address }, 'connection refused')
      return
    case 'rate-limited':
    case 'body-refused':
      return
    case 'group-committed':
      log.trace({ of: event.of, items: event.items, ms: event.ms }, 'group committed')
      return
    case 'group-failed':
      log.debug({ of: event.of, items: event.items }, 'group failed')
      return
    case 'executions-created':
    case 'execution-started':
    case 'execution-ended':
      return
    case 'storage-unavailable':
      log.error({ err: event.error }, 'storage is not available')
      return
    case 'disk-space-changed': {
      const { refused, freeBytes, markBytes } = event
      if (refused === 'nothing') log.info({ freeBytes, markBytes }, 'there is enough disk space again')
      else log.warn({ freeBytes, markBytes }, `disk space is running short: ${refusedWhen[refused]} refused`)
      return
    }
    case 'storage-lost':
      log.fatal({ err: event.error }, 'storage thread ended; the service cannot continue')
      return
    case 'foreign-files-folder':
      log.error(
        { folder: event.folder },
        'the folder for files belongs to another installation: no content is stored or removed; set files-folder to another ' +
          'folder, or delete the file "installation" in it if no other service uses it',
      )
      return
    case 'foreign-files-bucket':
      log.error(
        { bucket: event.bucket },
        'the bucket for files belongs to another installation: no content is stored or removed; set files-s3 to another ' +
          'bucket or folder, or delete the object "installation" in it if no other service uses it',
      )
      return
    case 'bucket-unavailable':
      log.error(`files cannot be stored or fetched at the moment: ${event.text}`)
      return
    case 'other-history':
      log.warn(
        'the database was failed over or restored and may lack commits; event streams end, caches are cleared',
      )
      return
    case 'device-connected':
      log.debug({ deviceId: event.deviceId, transport: event.transport }, 'device connected')
      return
    case 'device-disconnected':
      log.debug(
        { deviceId: event.deviceId, transport: event.transport, reason: event.reason },
        'device disconnected',
      )
      return
    case 'device-refused':
      log.info(
        {
          deviceId: event.deviceId,
          transport: event.transport,
          address: event.address,
          reason: event.reason,
        },
        'device refused',
      )
      return
    case 'device-sign-in-failed':
      log.warn({ transport: event.transport, err: event.error }, 'could not sign in a device')
      return
    case 'device-request-failed':
      log.error(
        { deviceId: event.deviceId, err: event.error },
        'internal error while serving a device request',
      )
      return
    case 'device-connection-failed':
      log.error({ transport: event.transport, err: event.error }, 'internal error on a device connection')
      return
    case 'bridge-connected':
      log.info({ bridge: event.bridgeName }, 'bridge connected to its broker')
      return
    case 'bridge-failed':
      log.warn({ bridge: event.bridgeName, error: event.error }, 'bridge does not work; will retry')
      return
    case 'tls-handshake-failed':
      log.debug({ err: event.error }, 'TLS handshake failed')
      return
    case 'device-accept-failed':
      log.error({ err: event.error }, 'could not accept a device connection')
      return
    case 'certificate-read':
      log.info({ validTo: event.validTo }, 'certificate and key were read again')
      return
    case 'certificate-failed':
      log.error({ err: event.error }, 'certificate and key cannot be used; the earlier ones stay in use')
      return
    case 'device-crl-read':
      log.info({ revoked: event.revoked }, 'certificate revocation list read again')
      return
    case 'device-crl-failed':
      log.error(
        { err: event.error },
        'the certificate revocation list cannot be used; the previous one stays in effect',
      )
      return
    case 'exchange-refused':
      log.warn({ reason: event.reason }, 'a token was not exchanged for access')
      return
    case 'unknown-owner': {
      const { setting, owner } = event
      log.warn({ setting, owner }, 'a setting names an owner that does not exist: it gives nobody access')
      return
    }
    case 'issuer-failed':
      log.warn({ reason: event.reason }, 'the issuer refused a sign-in, or cannot be reached')
      return
    case 'dispatch-failed':
      log.error({ err: event.error }, 'could not notify devices; will retry on the next sweep')
      return
    case 'webhook-attempted': {
      const { webhookName, ownerNo, eventId, status, error, ms } = event
      log.debug({ webhookName, ownerNo, eventId, status, error, ms }, 'webhook attempted')
      return
    }
    case 'webhook-failing': {
      const { webhookName, ownerNo, status, error } = event
      log.warn({ webhookName, ownerNo, status, error }, 'webhook is failing; its events are retried')
      return
    }
    case 'webhook-recovered': {
      const { webhookName, ownerNo } = event
      log.info({ webhookName, ownerNo }, 'webhook works again')
      return
    }
    case 'webhook-paused': {
      const { webhookName, ownerNo, because } = event
      log.warn({ webhookName, ownerNo, because }, 'webhook paused; its owner can resume it')
      return
    }
    case 'webhook-events-purged': {
      const { webhookName, ownerNo, upTo } = event
      log.warn(
        { webhookName, ownerNo, upTo },
        'events expired before they were sent to the webhook; it continues after them',
      )
      return
    }
    case 'webhooks-failed':
      log.error({ err: event.error }, 'could not process webhooks; will retry')
      return
    case 'span-export-failed':
      log.warn(
        { waiting: event.waiting, err: event.error },
        'could not send spans to the collector; will retry',
      )
      return
    case 'spans-dropped': {
      const { count, reason, error } = event
      log.warn({ count, reason, ...(error !== undefined && { err: error }) }, 'dropped spans')
      return
    }
    case 'audit-damaged': {
      const { ownerId, auditId, because } = event
      log.error(
        { ownerId, auditId, because },
        'the audit was changed outside of the service; see "When the audit was changed" in docs/audit.md',
      )
      return
    }
    case 'audit-key-created':
      log.info({ keyId: event.keyId }, `created ${event.file}, the key that seals the audit; back it up`)
      return
    case 'audit-unsealed':
      log.warn('no key for the audit is configured (--audit-key): entries are written, but not sealed')
      return
    case 'background-failed':
      log.error({ task: event.task, err: event.error }, 'background task failed; will retry')
      return
    case 'started': {
      // Logged at any level except silent: with port 0, the caller reads the address from this line.
      const always = log.level === 'silent' ? log : log.child({}, { level: 'info' })
      const { http, mqtt, metrics, data } = event
      always.info({ http, mqtt, metrics, data, ms: Math.round(event.ms) }, 'ready')
      return
    }
    case 'metrics-listener-failed':
      log.warn(
        { err: event.error },
        'metrics are not served: the default port is in use; set --metrics-port to a free one',
      )
      return
    case 'admin-key-unused':
      log.warn(
        'JOBCAST_ADMIN_KEY is ignored: this database already has its first key, and it is a different one',
      )
      return
    case 'plaintext':
      log.warn(
        { host: event.host },
        'API keys and device tokens are sent in clear text on this address; set --tls-cert and --tls-key',
      )
      return
    case 'access-changed':
      log.info({ type: event.type, principal: event.principal, ...event.subject }, 'access changed')
      return
    case 'stopping':
      log.info({ signal: event.signal }, 'stopping: accepting no new work, finishing work in progress')
      return
  }
}
