// The signatures of a job in requests and responses. Their format is in signature/.

import Type, { type Static } from 'typebox'
import { jobPayloadType, maxKeyIdLength, maxPayloadBytes, maxSignatures } from './signature/index.ts'
import { mustBe } from './text.ts'

const base64 = (maxBytes: number, description: string) =>
  Type.String({
    description,
    pattern: '^[A-Za-z0-9+/_-]+={0,2}$',
    [mustBe]: 'base64',
    maxLength: Math.ceil(maxBytes / 3) * 4,
  })

export const JobEnvelope = Type.Object(
  {
    payloadType: Type.Unsafe<typeof jobPayloadType>({ type: 'string', enum: [jobPayloadType] }),
    payload: base64(
      maxPayloadBytes,
      'Canonical JSON (RFC 8785) of `jobName`, `version`, `document`, and if there are any `parameters`, `notAfter` and `audience`',
    ),
    signatures: Type.Array(
      Type.Object(
        {
          keyid: Type.Optional(
            Type.String({
              maxLength: maxKeyIdLength,
              description:
                'A hint: SHA-256 of the public key (DER) in hex. Only devices know which keys to trust',
            }),
          ),
          sig: base64(96, 'Ed25519 signature'),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: maxSignatures },
    ),
  },
  {
    title: 'JobEnvelope',
    additionalProperties: false,
    description: 'DSSE envelope with the signatures of the authors of a job, created by `jobcast jobs sign`',
  },
)
export type JobEnvelope = Static<typeof JobEnvelope>
