// The complete list of settings; --help, environment variables and the configuration file are derived from it.

export const defaultMetricsPort = 9464

/** `document`: YAML, or the name of a YAML file; the configuration file may also contain the value itself. `count` is above 0, `amount` may be 0; `numbers` has one for each of several names (named-numbers.ts). */
type Kind = 'text' | 'document' | 'port' | 'count' | 'amount' | 'numbers' | 'switch'
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
    help: 'CA certificates (PEM) trusted to sign device certificates: a device whose certificate has its deviceId as CN needs no token over MQTT and HTTPS',
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
  'max-file-bytes': {
    kind: 'count',
    default: 2 * 1024 * 1024 * 1024,
    argument: 'number',
    help: 'maximum size of a file, in bytes',
  },
  'max-downloads': {
    kind: 'count',
    default: 64,
    argument: 'number',
    help: 'how many downloads of files a node serves at once; while other owners wait, half of them for one owner. Further ones are rejected with Retry-After',
  },
  'files-folder': {
    kind: 'text',
    default: undefined,
    argument: 'folder',
    help: 'folder of the content of files (default: files in the data folder); needed with DATABASE_URL, and shared by all nodes',
  },
  'files-s3': {
    kind: 'text',
    default: undefined,
    argument: 'url',
    help: 'S3-compatible bucket for the content of files, instead of a folder, for example https://s3.eu-central-1.amazonaws.com/my-bucket; credentials from JOBCAST_FILES_S3_ACCESS_KEY_ID and JOBCAST_FILES_S3_SECRET_ACCESS_KEY, or as the SDK of AWS finds them',
  },
  'files-s3-region': {
    kind: 'text',
    default: undefined,
    argument: 'name',
    help: 'region of the bucket (default: that in an address of AWS, else us-east-1)',
  },
  'files-s3-direct': {
    kind: 'text',
    default: undefined,
    argument: 'url',
    help: 'address of the store for devices, for example https://s3.eu-central-1.amazonaws.com: they fetch files from the bucket itself, by URLs that are signed for an hour (default: they fetch from this service)',
  },
  'files-s3-placeholders': {
    kind: 'text',
    default: undefined,
    argument: 'list',
    help: 'objects of the bucket that documents of all owners may hand out with the placeholder of AWS for presigned URLs: bucket/folder or bucket/object, separated by commas (default: none)',
  },
  'min-free-disk': {
    kind: 'amount',
    default: 256,
    argument: 'MiB',
    help: 'free disk space below which output and progress are rejected, below half of it triggers, and below four times of it files; at most 5 % of the disk; not with DATABASE_URL; 0: off',
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
  'public-url': {
    kind: 'text',
    default: undefined,
    argument: 'url',
    help: 'the address that people and devices use, for sign-in, URLs of files and links in messages, for example https://jobcast.example.com',
  },
  'oidc-issuer': {
    kind: 'text',
    default: undefined,
    argument: 'url',
    help: 'OpenID Connect issuer that people sign in at; needs public-url, oidc-client-id and oidc-roles',
  },
  'oidc-client-id': {
    kind: 'text',
    default: undefined,
    argument: 'id',
    help: 'what the issuer knows this service by',
  },
  'oidc-client-secret': {
    kind: 'text',
    default: undefined,
    argument: 'secret',
    help: 'secret of the client, if it has one; better in the environment or a file than on the command line',
  },
  'oidc-client-secret-file': {
    kind: 'text',
    default: undefined,
    argument: 'file',
    help: 'file with the secret of the client',
  },
  'oidc-scopes': {
    kind: 'text',
    default: 'openid profile email',
    argument: 'scopes',
    help: 'what the issuer is asked for, separated by spaces; some issuers need "groups" or "offline_access" too',
  },
  'oidc-claim': {
    kind: 'text',
    default: 'groups',
    argument: 'name',
    help: 'claim with the groups of a person; dots go deeper, for example realm_access.roles',
  },
  'oidc-roles': {
    kind: 'document',
    default: undefined,
    argument: 'file or YAML',
    help: 'which group has which role at which owner, for example {ops: {owner: default, role: operator}}',
  },
  'oidc-trust': {
    kind: 'document',
    default: undefined,
    argument: 'file or YAML',
    help: 'whose tokens are exchanged for a key of 15 minutes: a list of {issuer, audience, subject, owner, scopes}',
  },
  'keep-events': {
    kind: 'count',
    default: 7,
    argument: 'days',
    help: 'how long events are retained for streams and webhooks',
  },
  'keep-audit': {
    kind: 'count',
    default: 400,
    argument: 'days',
    help: 'how long entries of the audit are retained',
  },
  'audit-key': {
    kind: 'text',
    default: undefined,
    argument: 'file',
    help: 'Ed25519 private key (PEM) that seals the audit; by default audit-key.pem in the data folder, created on first start; with DATABASE_URL it must be set on all nodes',
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
  quota: {
    kind: 'numbers',
    default: undefined,
    argument: 'name=number',
    help: 'how much of something there may be, for example devices=100000; repeatable; 0: no limit; the names are below',
  },
  rate: {
    kind: 'numbers',
    default: undefined,
    argument: 'name=number',
    help: 'how many requests a second are served, for example key=500, for ten seconds at once; repeatable; 0: no limit; the names are below',
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
  bridge: {
    kind: 'text',
    default: undefined,
    argument: 'url',
    help: 'MQTT broker of yours that devices are connected to, for example mqtts://broker:8883; several by the configuration file',
  },
  'bridge-owner': {
    kind: 'text',
    default: 'default',
    argument: 'ownerName',
    help: 'owner of the devices on the broker',
  },
  'bridge-prefix': {
    kind: 'text',
    default: '$aws/things',
    argument: 'topic',
    help: 'what the topics of devices on the broker start with, for example jobcast/things',
  },
  'bridge-client-id': {
    kind: 'text',
    default: undefined,
    argument: 'id',
    help: 'client id on the broker, the same on all nodes (default: made of name, owner and prefix)',
  },
  'bridge-silence': {
    kind: 'count',
    default: 600,
    argument: 'seconds',
    help: 'how long a device on the broker may be silent before it is offline',
  },
  'bridge-enroll': {
    kind: 'switch',
    default: false,
    help: 'create devices that are heard on the broker for the first time',
  },
  'bridge-events': {
    kind: 'text',
    default: undefined,
    argument: 'topic',
    help: 'publish the event log of the owner on this topic of the broker, for example jobcast/events',
  },
  ddi: {
    kind: 'switch',
    default: false,
    help: 'serve devices of hawkBit (SWUpdate, rauc-hawkbit-updater, Zephyr) at /{ownerName}/controller/v1',
  },
  'ddi-poll': {
    kind: 'count',
    default: 300,
    argument: 'seconds',
    help: 'how often devices of hawkBit are asked to poll while nothing waits for them, at most 86399',
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
