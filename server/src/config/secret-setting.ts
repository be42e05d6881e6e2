// Secrets come from the environment, or from a file that NAME_FILE names, as Docker and Kubernetes mount them.

import { readFileSync } from 'node:fs'

type SecretName =
  | 'DATABASE_URL'
  | 'JOBCAST_ADMIN_KEY'
  | 'JOBCAST_SECRETS_KEY'
  | `JOBCAST_BRIDGE_${'USER' | 'PASSWORD' | 'CA' | 'CERT' | 'KEY'}`

/** Undefined if there is none. The texts of problems never have the secret in them. */
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
