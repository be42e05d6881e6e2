// A misspelled JOBCAST_ variable would silently leave the default in place, so unknown variables are reported.

import { numberMeant } from './named-numbers.ts'
import { nearestTo } from './nearest.ts'
import { envName, type SettingName, settings } from './settings.ts'

const ofServer = [
  ...(Object.keys(settings) as SettingName[]).map(envName),
  ...['CONFIG', 'ADMIN_KEY', 'ADMIN_KEY_FILE', 'SECRETS_KEY', 'SECRETS_KEY_FILE'].map(withPrefix),
  ...['ACCESS_KEY_ID', 'SECRET_ACCESS_KEY'].flatMap((each) =>
    ['', '_FILE'].map((end) => withPrefix(`FILES_S3_${each}${end}`)),
  ),
  ...['USER', 'PASSWORD', 'CA', 'CERT', 'KEY'].flatMap((each) =>
    ['', '_FILE'].map((end) => withPrefix(`BRIDGE_${each}${end}`)),
  ),
]

/** Variables of the command line, agents, their handlers, examples and builds, which may run next to a server. */
const ofOthers: ReadonlySet<string> = new Set(
  [
    ...['URL', 'API_KEY', 'PROFILE', 'COMPLETION_SECONDS', 'WEBHOOK_SECRET', 'VERSION', 'SBOM', 'WRAPPER'],
    ...['ID_TOKEN', 'ID_TOKEN_FILE', 'ID_TOKEN_AUDIENCE'],
    ...['BROKER', 'BROKER_PREFIX', 'BROKER_CERT_FILE', 'BROKER_KEY_FILE'],
    ...['SERVER', 'MQTT', 'DEVICE', 'DEVICE_ID', 'DEVICE_TOKEN', 'ENROLLMENT_TOKEN', 'TOKEN_FILE', 'STATE'],
    ...[
      'HANDLERS',
      'POLL_SECONDS',
      'TRUST',
      'REQUIRE_SIGNATURES',
      'REQUIRE_SIGNATURE',
      'AUDIENCE',
      'ATTRIBUTES_FILE',
      'LIMIT_RATE',
    ],
    ...['JOB_ID', 'ATTEMPT', 'RESUMED', 'RESULT_FILE', 'STEP', 'BOOT_ID', 'START', 'START_ID'],
  ].map(withPrefix),
)

/** Parameters, secrets and files of a job for its handler, variables of a GitLab job, and settings of the tests. */
const prefixesOfOthers = [
  ...['JOBCAST_PARAM_', 'JOBCAST_SECRET_', 'JOBCAST_FILE_', 'JOBCAST_TEST_'],
  'JOBCAST_TRIGGER_',
]

export function unknownVariables(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (!name.startsWith('JOBCAST_') || isKnown(name) || isOfService(name, value)) return []
    const meant = numberMeant(name.slice('JOBCAST_'.length).toLowerCase().replaceAll('_', '-'))
    if (meant)
      return `${name} is not a setting; use ${envName(meant.setting)}=${meant.name}=${value.slice(0, 20)}`
    return `${name.slice(0, 100)} is not a setting; did you mean ${nearestTo(name, ofServer)}?`
  })
}

function isKnown(name: string): boolean {
  return (
    ofServer.includes(name) ||
    ofOthers.has(name) ||
    prefixesOfOthers.some((prefix) => name.startsWith(prefix))
  )
}

/** Kubernetes and Docker links set such variables for each service, which may be called jobcast, or jobcast-something. */
function isOfService(name: string, value: string): boolean {
  return (
    /_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT_\d+_(?:TCP|UDP|SCTP)/.test(name) ||
    /^(?:tcp|udp|sctp):\/\//.test(value)
  )
}

function withPrefix(name: string): string {
  return `JOBCAST_${name}`
}
