// An enrollment lets devices fetch their first credential themselves, with a token of limited uses and lifetime.

import Type, { type Static } from 'typebox'
import { Page } from './page.ts'
import { Tags } from './resources/devices.ts'
import { DeviceIdPrefix, Id, Instant, makerFields, Name, orNull } from './text.ts'

export const NewEnrollment = Type.Object(
  {
    name: Type.Optional(Name),
    maxUses: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        description: 'How many devices may enroll; default 1',
      }),
    ),
    expiresInSeconds: Type.Optional(
      Type.Integer({ minimum: 60, maximum: 31_536_000, description: 'Default 86400, one day' }),
    ),
    tags: Type.Optional(Type.Unsafe<string[]>({ ...Tags, description: 'Tags of every device it creates' })),
    deviceIdPrefix: Type.Optional(
      Type.String({
        ...DeviceIdPrefix,
        description:
          'Required prefix of the deviceId of every device. Without it the token works for any deviceId without a credential, including registered devices: set one if you can',
      }),
    ),
  },
  {
    title: 'NewEnrollment',
    additionalProperties: false,
    examples: [{ name: 'kiosks, Berlin', maxUses: 200, tags: ['kiosk', 'berlin'], deviceIdPrefix: 'kiosk-' }],
  },
)
export type NewEnrollment = Static<typeof NewEnrollment>

const enrollmentFields = {
  enrollmentId: Type.String(),
  name: orNull(Type.String()),
  maxUses: Type.Integer(),
  used: Type.Integer({ description: 'How many devices have enrolled' }),
  tags: Type.Array(Type.String()),
  deviceIdPrefix: orNull(Type.String()),
  expiresAt: Instant,
  createdAt: Instant,
  revokedAt: orNull(Instant),
  ...makerFields,
}

export const Enrollment = Type.Object(enrollmentFields, { title: 'Enrollment' })
export type Enrollment = Static<typeof Enrollment>

export const CreatedEnrollment = Type.Object(
  {
    ...enrollmentFields,
    enrollmentToken: Type.String({ description: 'The token devices enroll with. It is shown only once' }),
  },
  { title: 'CreatedEnrollment' },
)
export type CreatedEnrollment = Static<typeof CreatedEnrollment>

export const EnrollmentParams = Type.Object({
  enrollmentId: Id,
})

export const EnrollmentPage = Page(Enrollment)
