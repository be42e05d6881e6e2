// The flags of `jobcast-agent`, which are also those of `jobcast agent`.

export type AgentFlags = {
  url?: string
  device?: string
  tokenFile?: string
  handlers?: string
  state?: string
  mqtt?: string
  broker?: string
  brokerPrefix?: string
  brokerCertFile?: string
  brokerKeyFile?: string
  http?: boolean
  allowCommands?: boolean
  limitRate?: string
  maxOutputBytes?: string
  attributesFile?: string
  trust?: string
  requireSignature?: boolean
  requireSignatures?: string
  audience?: string
}

export type EnrollFlags = {
  url?: string
  device?: string
  tokenFile?: string
  enrollmentTokenFile?: string
  name?: string
}

export type Flag = {
  /** As on the command line, without the dashes. */
  name: string
  /** A flag without an argument is a switch. */
  argument?: string
  help: string
  env?: string
  /** The former name, which still works. */
  older?: { name: string; env: string }
}

const url: Flag = {
  name: 'url',
  argument: 'url',
  help: 'address of the service, for example https://jobs.example',
  env: 'JOBCAST_URL',
  older: { name: 'server', env: 'JOBCAST_SERVER' },
}
const device: Flag = {
  name: 'device',
  argument: 'deviceId',
  help: 'deviceId of this device',
  env: 'JOBCAST_DEVICE',
}

export const agentFlags: readonly Flag[] = [
  url,
  device,
  {
    name: 'token-file',
    argument: 'file',
    help: 'file with the device token; must not be readable by others (mode 0600)',
    env: 'JOBCAST_TOKEN_FILE',
  },
  {
    name: 'handlers',
    argument: 'folder',
    help: 'folder of executables that jobs can name as their handler',
    env: 'JOBCAST_HANDLERS',
  },
  { name: 'allow-commands', help: 'run any command that a job document names, not only handlers' },
  {
    name: 'state',
    argument: 'folder',
    help: 'folder in which the agent records what it has started',
    env: 'JOBCAST_STATE',
  },
  {
    name: 'attributes-file',
    argument: 'file',
    help: 'JSON object of attributes to report, read again whenever it changes and after each handler',
    env: 'JOBCAST_ATTRIBUTES_FILE',
  },
  {
    name: 'trust',
    argument: 'file',
    help: 'PEM file with the public keys of authors; signatures by other keys are rejected',
    env: 'JOBCAST_TRUST',
  },
  { name: 'require-signature', help: 'run only jobs signed by a key of the --trust file' },
  {
    name: 'require-signatures',
    argument: 'number',
    help: 'run only jobs signed by this many different keys of the --trust file',
    env: 'JOBCAST_REQUIRE_SIGNATURES',
  },
  {
    name: 'audience',
    argument: 'name',
    help: 'run a signed job only if it is signed for this audience (jobcast jobs sign --audience)',
    env: 'JOBCAST_AUDIENCE',
  },
  {
    name: 'mqtt',
    argument: 'url',
    help: 'connect to this MQTT address instead, for example mqtts://host:8883',
    env: 'JOBCAST_MQTT',
  },
  {
    name: 'broker',
    argument: 'url',
    help: 'connect to your own MQTT broker, to which the service has a bridge; the token file has the password of the device there',
    env: 'JOBCAST_BROKER',
  },
  {
    name: 'broker-prefix',
    argument: 'topic',
    help: 'what topics on the broker start with, as bridge-prefix of the service (default $aws/things)',
    env: 'JOBCAST_BROKER_PREFIX',
  },
  {
    name: 'broker-cert-file',
    argument: 'file',
    help: 'PEM file with the certificate of the device on the broker; then a token file is not necessary',
    env: 'JOBCAST_BROKER_CERT_FILE',
  },
  {
    name: 'broker-key-file',
    argument: 'file',
    help: 'PEM file with the key of that certificate; must not be readable by others (mode 0600)',
    env: 'JOBCAST_BROKER_KEY_FILE',
  },
  { name: 'http', help: 'use HTTP long polling, for networks that block MQTT and WebSockets' },
  {
    name: 'limit-rate',
    argument: 'rate',
    help: 'fetch files with at most this many bytes per second, for example 500000, 200K or 2M (default: no limit)',
    env: 'JOBCAST_LIMIT_RATE',
  },
  {
    name: 'max-output-bytes',
    argument: 'number',
    help: 'maximum output sent per attempt; should match the server (default 10 MiB)',
  },
]

export const enrollFlags: readonly Flag[] = [
  url,
  device,
  {
    name: 'token-file',
    argument: 'file',
    help: 'file to write the device token to (mode 0600)',
    env: 'JOBCAST_TOKEN_FILE',
  },
  { name: 'enrollment-token-file', argument: 'file', help: 'file with the enrollment token (je_…)' },
  { name: 'name', argument: 'text', help: 'name of the device (default: its deviceId)' },
]

/** Flags win over the environment, current names over older ones. Names come in camel case or as on the command line. */
export function resolveFlags<Flags extends object>(
  flags: readonly Flag[],
  given: Record<string, unknown>,
  env: NodeJS.ProcessEnv,
): Flags {
  const inFlag = (name: string | undefined) =>
    name === undefined ? undefined : (given[name] ?? given[camelCase(name)])
  const inEnv = (name: string | undefined) => (name === undefined ? undefined : env[name] || undefined)
  const values = flags.map(({ name, env: variable, older }) => [
    camelCase(name),
    inFlag(name) ?? inFlag(older?.name) ?? inEnv(variable) ?? inEnv(older?.env),
  ])
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Flags
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
