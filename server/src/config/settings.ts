// The complete list of settings; --help, environment variables and the configuration file are derived from it.

export const defaultMetricsPort = 9464

/** `count` is above 0; `rate` is per second; 0 switches a rate or a quota off. */
type Kind = 'text' | 'port' | 'count' | 'rate' | 'quota' | 'switch'
export type Setting = {
  kind: Kind
  default: string | number | boolean | undefined
  help: string
  argument?: string
}

export const settings = {
  port: { kind: 'port', default: 8080, argument: 'number', help: 'port for HTTP; 0 picks a free one' },
  'mqtt-port': {
    kind: 'port',
    default: 1883,
    argument: 'number',
    help: 'port for MQTT; 0 picks a free one',
  },
  host: { kind: 'text', default: '127.0.0.1', argument: 'address', help: 'address to listen on' },
  data: { kind: 'text', default: './data', argument: 'folder', help: 'folder of the embedded database' },
  'tls-cert': {
    kind: 'text',
    default: undefined,
    argument: 'file',
    help: 'certificate chain (PEM); enables HTTPS and MQTT over TLS',
  },
  'tls-key': {
    kind: 'text',
    default: undefined,
    argument: 'file',
    help: 'private key of the certificate (PEM)',
  },
  'device-ca': {
    kind: 'text',
    default: undefined,
    argument: 'file',
    help: 'CA certificates (PEM) trusted to sign device certificates: a device whose certificate has its deviceId as CN needs no token over MQTT',
  },
  'device-crl': {
    kind: 'text',
    default: undefined,
    argument: 'file',
    help: 'revocation lists (PEM) of the CAs in --device-ca: certificates in them are rejected. Read again when the file changes',
  },
  'allow-plaintext': {
    kind: 'switch',
    default: false,
    help: 'listen without TLS on an address other than loopback, for example behind a proxy',
  },
  'max-devices': {
    kind: 'count',
    default: 10_000,
    argument: 'number',
    help: 'maximum number of devices in one trigger call, up to 1000000',
  },
  'max-output-bytes': {
    kind: 'count',
    default: 10 * 1024 * 1024,
    argument: 'number',
    help: 'maximum output stored per attempt of an execution, in bytes',
  },
  'min-free-disk': {
    kind: 'quota',
    default: 256,
    argument: 'MiB',
    help: 'free disk space below which output and progress are rejected, and below half of it triggers; at most 5 % of the disk; not with DATABASE_URL; 0: off',
  },
  'cancel-deadline': {
    kind: 'count',
    default: 60,
    argument: 'seconds',
    help: 'how long a device may take to confirm a cancellation',
  },
  'session-idle-timeout': {
    kind: 'count',
    default: 3600,
    argument: 'seconds',
    help: 'how long a session of the console may be unused before it ends, at least 300',
  },
  'keep-events': {
    kind: 'count',
    default: 7,
    argument: 'days',
    help: 'how long events are retained for streams and webhooks',
  },
  'keep-executions': {
    kind: 'count',
    default: undefined,
    argument: 'days',
    help: 'how long finished runs and their executions are retained (default: forever)',
  },
  'webhook-allow': {
    kind: 'text',
    default: undefined,
    argument: 'addresses',
    help: 'private or loopback addresses that webhooks may be sent to, separated by commas, for example 10.1.0.0/16,::1',
  },
  'address-rate': {
    kind: 'rate',
    default: 100,
    argument: 'per second',
    help: 'requests without a key per address; 0: no limit',
  },
  'sign-in-rate': {
    kind: 'rate',
    default: 10,
    argument: 'per second',
    help: 'failed sign-ins per address; 0: no limit',
  },
  'key-rate': {
    kind: 'rate',
    default: 10_000,
    argument: 'per second',
    help: 'requests per API key; 0: no limit',
  },
  'owner-rate': {
    kind: 'rate',
    default: 20_000,
    argument: 'per second',
    help: 'requests with the API keys of one owner; 0: no limit',
  },
  'device-rate': {
    kind: 'rate',
    default: 1000,
    argument: 'per second',
    help: 'requests or MQTT packets per device; 0: no limit',
  },
  'session-rate': {
    kind: 'rate',
    default: 5,
    argument: 'per second',
    help: 'sessions and tickets created per API key, and per owner and address; 0: no limit',
  },
  'max-execution-reports': {
    kind: 'quota',
    default: 1_000_000,
    argument: 'reports',
    help: 'reports accepted about one execution; its final state always is; 0: no limit',
  },
  'max-progress-bytes': {
    kind: 'quota',
    default: 64 * 1024 * 1024,
    argument: 'bytes',
    help: 'status details stored in the progress events of one execution; 0: no limit',
  },
  'max-output-pieces': {
    kind: 'quota',
    default: 100_000,
    argument: 'number',
    help: 'pieces of output stored per attempt of an execution; further output is dropped; 0: no limit',
  },
  'max-owner-output-bytes': {
    kind: 'quota',
    default: 100 * 1024 * 1024 * 1024,
    argument: 'bytes',
    help: 'output stored per day for all devices of one owner; further output is dropped; 0: no limit',
  },
  'max-device-executions': {
    kind: 'quota',
    default: 100_000,
    argument: 'number',
    help: 'unfinished executions of one device; 0: no limit',
  },
  'max-owner-executions': {
    kind: 'quota',
    default: 20_000_000,
    argument: 'number',
    help: 'unfinished executions of one owner; 0: no limit',
  },
  'max-owner-devices': {
    kind: 'quota',
    default: 2_000_000,
    argument: 'number',
    help: 'devices of one owner; 0: no limit',
  },
  'max-owner-jobs': {
    kind: 'quota',
    default: 100_000,
    argument: 'number',
    help: 'jobs of one owner; 0: no limit',
  },
  'max-owner-keys': {
    kind: 'quota',
    default: 10_000,
    argument: 'number',
    help: 'active API keys of one owner; 0: no limit',
  },
  'max-owner-enrollments': {
    kind: 'quota',
    default: 100_000,
    argument: 'number',
    help: 'open enrollments of one owner; 0: no limit',
  },
  'max-owner-webhooks': {
    kind: 'quota',
    default: 100,
    argument: 'number',
    help: 'webhooks of one owner; 0: no limit',
  },
  'max-owner-match-schedules': {
    kind: 'quota',
    default: 200,
    argument: 'number',
    help: 'schedules of one owner that run as soon as a device matches; 0: no limit',
  },
  'max-key-sessions': {
    kind: 'quota',
    default: 10_000,
    argument: 'number',
    help: 'sessions and tickets of one API key; 0: no limit',
  },
  'max-key-streams': {
    kind: 'quota',
    default: 1000,
    argument: 'number',
    help: 'event streams and followed outputs of one API key, per node; 0: no limit',
  },
  'max-owner-streams': {
    kind: 'quota',
    default: 4000,
    argument: 'number',
    help: 'event streams and followed outputs of one owner, per node; 0: no limit',
  },
  'max-key-body-bytes': {
    kind: 'quota',
    default: 32 * 1024 * 1024,
    argument: 'bytes',
    help: 'request bodies of one API key or device that are being received, per node; a single body may have any size; 0: no limit',
  },
  'max-owner-body-bytes': {
    kind: 'quota',
    default: 64 * 1024 * 1024,
    argument: 'bytes',
    help: 'request bodies of one owner that are being received, per node; 0: no limit',
  },
  'max-node-body-bytes': {
    kind: 'quota',
    default: 256 * 1024 * 1024,
    argument: 'bytes',
    help: 'request bodies of all owners that are being received, per node; those up to 16 KiB are always accepted; 0: no limit',
  },
  'trusted-proxies': {
    kind: 'text',
    default: undefined,
    argument: 'addresses',
    help: 'reverse proxies whose X-Forwarded-For header is trusted, separated by commas, for example 10.1.0.0/16',
  },
  'cors-origins': {
    kind: 'text',
    default: undefined,
    argument: 'origins',
    help: 'web pages of other origins that may call the API with a key, separated by commas, for example https://ops.example.com',
  },
  'metrics-host': {
    kind: 'text',
    default: '127.0.0.1',
    argument: 'address',
    help: 'address for metrics and health checks',
  },
  'metrics-port': {
    kind: 'port',
    default: undefined,
    argument: 'number',
    help: `port for metrics and health checks (default: ${defaultMetricsPort}, or a free one with --port 0)`,
  },
  'metrics-on-api': {
    kind: 'switch',
    default: false,
    help: 'also serve /metrics on the port of the API, to everyone',
  },
  'log-level': {
    kind: 'text',
    default: 'info',
    argument: 'level',
    help: 'trace, debug, info, warn, error, fatal or silent',
  },
  'log-time': {
    kind: 'text',
    default: 'epoch',
    argument: 'format',
    help: 'time in log lines: epoch (milliseconds; on a terminal, the time of day) or iso (2026-11-15T09:30:00.000Z)',
  },
  'json-log': { kind: 'switch', default: false, help: 'log JSON lines, also on a terminal' },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settings
export type GivenSettings = Partial<Record<SettingName, unknown>>

export function envName(name: SettingName): string {
  return `JOBCAST_${name.toUpperCase().replaceAll('-', '_')}`
}
