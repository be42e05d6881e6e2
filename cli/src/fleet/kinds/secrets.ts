// Secrets in a fleet file: it says where their values are, and never has the values. The service does not return values, so
// they cannot be compared: an existing secret stays unchanged.

import { readFileSync } from 'node:fs'
import { secrets } from '@jobcast/contract'
import { systemReason } from '@jobcast/contract/words'
import Type from 'typebox'
import { UsageError } from '../../errors/usage-error.ts'
import { type Fields, type Kind, kindOf } from './kind.ts'

const contentSchema = Type.Object(
  {
    fromEnv: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        description: 'Environment variable with the value',
      }),
    ),
    fromFile: Type.Optional(Type.String({ minLength: 1, description: 'File with the value' })),
  },
  { additionalProperties: false },
)

const described = kindOf(secrets, {
  refusal: (_name, { fromEnv, fromFile }) =>
    (fromEnv === undefined) === (fromFile === undefined)
      ? 'needs exactly one of fromEnv and fromFile: a value does not belong into a file of resources'
      : undefined,
  filled: () => ({}),
  async put(client, name, content, _isNew, env) {
    await client.secrets.put(name, { value: readValue(name, content, env) })
    return undefined
  },
})

/** None of its fields is compared or shown. */
export const secretKind: Kind = { ...described, contentSchema }

/** As in `secrets put`, one line break at the end is not part of the value. */
function readValue(name: string, { fromEnv, fromFile }: Fields, env: NodeJS.ProcessEnv): string {
  const value = fromEnv === undefined ? readFile(name, String(fromFile)) : (env[String(fromEnv)] ?? '')
  if (value !== '') return value
  const where = fromEnv === undefined ? `the file ${fromFile}` : `the environment variable ${fromEnv}`
  throw new UsageError(`secret ${name}: ${where} has no value`)
}

function readFile(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new UsageError(`secret ${name}: cannot read ${path}: ${systemReason(error as Error)}`)
  }
}
