// Text and time formats of the API.

import Type, { type TSchema } from 'typebox'

/** A schema keyword that describes a pattern; the text completes "… must be". Used in error messages and in the OpenAPI document. */
export const mustBe = 'x-must-be'

/** At least one visible character, no control character, no lone surrogate, at most 128 characters. */
const namePattern = '^(?=\\s*\\S)[^\\p{Cc}\\p{Cs}]{1,128}$'

/**
 * A deviceId becomes a level of an MQTT topic and the user name of a connection, so it must not contain
 * / + # ? and is not one of the path segments . and .. (which URL parsers resolve away).
 */
const deviceIdPattern = '^(?!\\.{1,2}$)(?=\\s*\\S)[^\\p{Cc}\\p{Cs}/+#?]{1,128}$'
/** A prefix of a deviceId. */
const deviceIdPrefixPattern = '^[^\\p{Cc}\\p{Cs}/+#?]{1,128}$'
const jobNamePattern = '^(?!\\.{1,2}$)(?=\\s*\\S)[^\\p{Cc}\\p{Cs}]{1,128}$'

/** A name in a request that refers to something; any well-formed name may be looked up. */
export const Name = Type.String({
  pattern: namePattern,
  [mustBe]: '1 to 128 characters, not only spaces, without control characters',
})
/** An id that Jobcast has issued. */
export const Id = Type.String({ pattern: '^[A-Za-z0-9]{1,64}$', [mustBe]: '1 to 64 letters or digits' })
/** A deviceId of a device to be created. */
export const NewDeviceId = Type.String({
  pattern: deviceIdPattern,
  [mustBe]: '1 to 128 characters without / + # ? and control characters, not only spaces, not . or ..',
})
export const DeviceIdPrefix = Type.String({
  pattern: deviceIdPrefixPattern,
  [mustBe]: '1 to 128 characters without / + # ? and control characters',
})
/** A jobName of a job to be created. */
export const NewJobName = Type.String({
  pattern: jobNamePattern,
  [mustBe]: '1 to 128 characters without control characters, not only spaces, not . or ..',
})

const nameRule = new RegExp(namePattern, 'u')
const deviceIdRule = new RegExp(deviceIdPattern, 'u')

export function isName(text: string): boolean {
  return nameRule.test(text)
}

export function isNewDeviceId(text: string): boolean {
  return deviceIdRule.test(text)
}

/** Free text of one or more lines: no control characters except line breaks and tabs. */
export const Prose = Type.String({
  pattern: '^(?:[^\\p{Cc}\\p{Cs}]|[\\n\\r\\t])*$',
  [mustBe]: 'text without control characters except line breaks and tabs',
  maxLength: 2000,
})

/** RFC 3339 with Z. */
export const Instant = Type.String({ format: 'date-time', examples: ['2026-11-15T09:30:00.000Z'] })
/** An instant in a request, with any offset in hours and minutes; no leap second, which a Date cannot represent. */
export const GivenInstant = Type.String({
  ...Instant,
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:[0-5]\\d(?:\\.\\d+)?(?:Z|[+-]\\d\\d:\\d\\d)$',
  [mustBe]: 'an RFC 3339 instant such as 2026-11-15T09:30:00Z',
})

export const orNull = <T extends TSchema>(schema: T, options: { description?: string } = {}) =>
  Type.Union([schema, Type.Null()], options)

/** For people, beside a field that names a key for programs. */
export const keyNameOf = (field: string) =>
  orNull(Type.String({ examples: ['ci'] }), {
    description: `The name of the key or the person in \`${field}\`; null if it is neither, or a key of another owner`,
  })

/** Who created something, and in which session. */
export const makerFields = {
  createdBy: orNull(Type.String({ examples: ['key:3f9aZ0qLxw'] }), {
    description:
      'Who created it: `key:<keyId>`, `user:<subject>` for a person, or `operator` for what was created on the machine of the service. Null if it is ' +
      'older than this field',
  }),
  createdByName: keyNameOf('createdBy'),
  createdBySession: orNull(Type.String(), {
    description: 'The session in which the key created it; null if the key was used directly',
  }),
}

const principal = (description: string) =>
  orNull(Type.String({ examples: ['key:3f9aZ0qLxw'] }), {
    description: `${description}: \`key:<keyId>\`, or \`user:<subject>\` for a person. Null if it is older than this field`,
  })

/** Who created something, and who put it last. */
export const changeFields = {
  createdBy: principal('Who created it'),
  createdByName: keyNameOf('createdBy'),
  updatedBy: principal('Who put it last'),
  updatedByName: keyNameOf('updatedBy'),
}

export * from './instant.ts'
