// A secret is a named, write-only value for devices.

import Type, { type Static } from 'typebox'
import { Instant, keyNameOf, mustBe } from '../text.ts'
import type { Resource } from './resource.ts'

export const maxSecretBytes = 16 * 1024

/** The same rules as for names of parameters: it is used in placeholders and becomes an environment variable. */
const SecretName = Type.String({
  pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,63}$',
  [mustBe]: '1 to 64 letters, digits, _ or -, beginning with a letter or _',
})

export const SecretContent = Type.Object(
  {
    value: Type.String({
      minLength: 1,
      maxLength: maxSecretBytes,
      writeOnly: true,
      description: 'The value, at most 16 KiB in UTF-8. It is never shown',
    }),
  },
  { title: 'SecretContent', additionalProperties: false, examples: [{ value: 'an example, not a secret' }] },
)
export type SecretContent = Static<typeof SecretContent>

export const Secret = Type.Object(
  {
    secretName: Type.String(),
    updatedAt: Type.Unsafe<string>({ ...Instant, description: 'When the value was set' }),
    updatedBy: Type.String({
      description: 'Who set the value: `key:<keyId>`',
      examples: ['key:3f9aZ0qLxw'],
    }),
    updatedByName: keyNameOf('updatedBy'),
    usedBy: Type.Array(Type.String(), {
      description:
        'What uses it: `job:<jobName>` if its current version does, `schedule:<scheduleName>`, and `run:<runId>` of ' +
        'unfinished runs; at most 20 of each kind',
      examples: [['job:backup', 'schedule:nightly', 'run:17']],
    }),
  },
  { title: 'Secret' },
)
export type Secret = Static<typeof Secret>

export const SecretParams = Type.Object({ secretName: SecretName })

export const secrets = {
  name: 'secrets',
  noun: 'secret',
  about: 'Secrets: values for devices that nobody can read back',
  key: 'secretName',
  params: SecretParams,
  content: SecretContent,
  view: Secret,
  neverShown: 'value',
  scopes: { read: 'READ', write: 'MANAGE' },
  quota: 1000,
  notFound: 'J-318',
  inUse: 'J-315',
  events: { created: 'secret.changed', updated: 'secret.changed', deleted: 'secret.deleted' },
  texts: {
    put:
      'Documents use it as `${secrets.NAME}`. The value is encrypted before it is stored and filled in when a device ' +
      'gets the document, so a new value reaches executions that are still pending. At most 1,000 per owner. Rejected ' +
      '(J-500) while the service has no key to encrypt secrets.',
    get: 'Without the value, which is never shown.',
    list: 'Without the values, which are never shown.',
    delete:
      'Rejected (J-315) while the current version of a job, a schedule or an unfinished execution uses it.',
  },
} as const satisfies Resource
