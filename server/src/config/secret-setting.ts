// Secrets are read from the environment, or from the file in NAME_FILE, as mounted by Docker and Kubernetes.

import { readFileSync } from 'node:fs'

type SecretName =
  | 'DATABASE_URL'
  | 'JOBCAST_ADMIN_KEY'
  | 'JOBCAST_SECRETS_KEY'
  | `JOBCAST_FILES_S3_${'ACCESS_KEY_ID' | 'SECRET_ACCESS_KEY'}`
  | `JOBCAST_BRIDGE_${'USER' | 'PASSWORD' | 'CA' | 'CERT' | 'KEY'}`

/** Undefined if it is not set. Messages never contain the secret. */
export function readSecret(name: SecretName, env: NodeJS.ProcessEnv, problems: string[]): string | undefined {
  const file = env[`${name}_FILE`] || undefined
  const given = env[name] || undefined
  if (file === undefined) return given
  if (given !== undefined) {
    problems.push(`${name} and ${name}_FILE are both set; set one of them`)
    return given
  }
  try {
    const text = readFileSync(file, 'utf8').trim()
    if (text === '') problems.push(`the file ${file} of ${name}_FILE is empty`)
    return text || undefined
  } catch (error) {
    problems.push(`the file of ${name}_FILE cannot be read: ${(error as Error).message}`)
    return undefined
  }
}
