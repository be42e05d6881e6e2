// A misspelled JOBCAST_ variable would silently leave the default in place, so one that nobody reads is a problem.

import { envName, type SettingName, settings } from './settings.ts'

const ofServer = [
  ...(Object.keys(settings) as SettingName[]).map(envName),
  ...['CONFIG', 'ADMIN_KEY', 'ADMIN_KEY_FILE', 'SECRETS_KEY', 'SECRETS_KEY_FILE'].map(withPrefix),
]

/** Of the command line, agents, their handlers, examples and builds, which may run beside a server. */
const ofOthers: ReadonlySet<string> = new Set(
  [
    ...['URL', 'API_KEY', 'PROFILE', 'COMPLETION_SECONDS', 'WEBHOOK_SECRET', 'VERSION', 'SBOM', 'WRAPPER'],
    ...['SERVER', 'MQTT', 'DEVICE', 'DEVICE_ID', 'DEVICE_TOKEN', 'ENROLLMENT_TOKEN', 'TOKEN_FILE', 'STATE'],
    ...[
      'HANDLERS',
      'POLL_SECONDS',
      'TRUST',
      'REQUIRE_SIGNATURES',
      'REQUIRE_SIGNATURE',
      'AUDIENCE',
      'ATTRIBUTES_FILE',
    ],
    ...['JOB_ID', 'ATTEMPT', 'RESUMED', 'RESULT_FILE', 'STEP', 'BOOT_ID', 'START', 'START_ID'],
  ].map(withPrefix),
)

/** Parameters of a job for its handler, and settings of the tests. */
const prefixesOfOthers = ['JOBCAST_PARAM_', 'JOBCAST_TEST_']

export function unknownVariables(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (!name.startsWith('JOBCAST_') || isKnown(name) || isOfService(name, value)) return []
    return `${name.slice(0, 100)} is not a setting; did you mean ${nearestTo(name)}?`
  })
}

function isKnown(name: string): boolean {
  return (
    ofServer.includes(name) ||
    ofOthers.has(name) ||
    prefixesOfOthers.some((prefix) => name.startsWith(prefix))
  )
}

/** Kubernetes and Docker links describe each service by such variables; one may be called jobcast, or jobcast-something. */
function isOfService(name: string, value: string): boolean {
  return (
    /_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT_\d+_(?:TCP|UDP|SCTP)/.test(name) ||
    /^(?:tcp|udp|sctp):\/\//.test(value)
  )
}

function nearestTo(name: string): string {
  const [nearest = ''] = ofServer.toSorted((one, other) => distance(name, one) - distance(name, other))
  return nearest
}

/** Levenshtein: how many characters have to be inserted, removed or replaced. Only the first ones of a long name count. */
function distance(name: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [line, letter] of [...name.slice(0, 64)].entries()) {
    const next = [line + 1]
    for (let column = 1; column <= other.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (letter === other[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}

function withPrefix(name: string): string {
  return `JOBCAST_${name}`
}
