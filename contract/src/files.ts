// A file: content for devices with a name and versions, stored here by its hash, or elsewhere and referred to by its URL.

import Type, { type Static } from 'typebox'
import { Instant, keyNameOf, mustBe, orNull } from './text.ts'

export const fileReferenceType = 'application/vnd.jobcast.file-reference+json'
/** The maximum number of versions of one owner. */
export const maxFileVersions = 10_000

const FileName = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  [mustBe]: '1 to 64 letters, digits, _ or -',
})
const Version = Type.String({
  maxLength: 64,
  pattern: '^(?:[A-Za-z0-9_+-]|\\.{1,2}[A-Za-z0-9_+-]|\\.{3})[A-Za-z0-9._+-]*$',
  [mustBe]: '1 to 64 letters, digits, ., _, + or -, and not . or ..',
})

export const FileParams = Type.Object({ fileName: FileName })
export const FileVersionParams = Type.Object({ fileName: FileName, version: Version })

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$', [mustBe]: '64 hexadecimal digits in lower case' })
const Sha1 = Type.String({ pattern: '^[0-9a-f]{40}$', [mustBe]: '40 hexadecimal digits in lower case' })
const Md5 = Type.String({ pattern: '^[0-9a-f]{32}$', [mustBe]: '32 hexadecimal digits in lower case' })
const Size = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'In bytes' })

export const FileReference = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 2048,
      pattern: '^https?://[!-~]+$',
      [mustBe]: 'an http or https URL of at most 2048 characters',
      description: 'Where devices fetch the content',
    }),
    size: Size,
    sha256: Sha256,
    sha1: Type.Optional(Sha1),
    md5: Type.Optional(Md5),
  },
  {
    title: 'FileReference',
    additionalProperties: false,
    examples: [{ url: 'https://cdn.example.com/app-1.4.bin', size: 1048576, sha256: '0'.repeat(64) }],
  },
)
export type FileReference = Static<typeof FileReference>

export const FileVersion = Type.Object(
  {
    fileName: Type.String(),
    version: Type.String(),
    isNewest: Type.Boolean({
      description: 'Whether it was uploaded last: documents that name no version use it',
    }),
    size: Type.Integer({ description: 'In bytes' }),
    sha256: Type.String(),
    sha1: orNull(Type.String()),
    md5: orNull(Type.String({ description: 'Only hawkBit devices use it' })),
    url: orNull(Type.String({ description: 'Where the content is stored; null: in the service' })),
    createdAt: Type.Unsafe<string>({ ...Instant }),
    createdBy: Type.String({
      description: 'Who uploaded it: `key:<keyId>`, or `user:<subject>` for a person',
      examples: ['key:3f9aZ0qLxw'],
    }),
    createdByName: keyNameOf('createdBy'),
    usedBy: Type.Array(Type.String(), {
      description:
        'What uses it: `job:<jobName>` if its current version does, `schedule:<scheduleName>`, and `run:<runId>` of ' +
        'unfinished runs; at most 20 of each kind',
      examples: [['job:update', 'run:17']],
    }),
  },
  { title: 'FileVersion' },
)
export type FileVersion = Static<typeof FileVersion>

export const FileUpload = Type.Object(
  {
    fileName: Type.String(),
    version: Type.String(),
    size: Type.Integer({ description: 'Size of the whole content, in bytes' }),
    received: Type.Integer({
      description: 'How many bytes have been received: the upload continues at this byte',
    }),
    expiresAt: Type.Unsafe<string>({
      ...Instant,
      description: 'When the received part is deleted, unless more arrives',
    }),
  },
  { title: 'FileUpload' },
)
export type FileUpload = Static<typeof FileUpload>
