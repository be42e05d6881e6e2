// Schemas as the OpenAPI document shows them: patterns that Python, Go and zod understand. Ours use Unicode properties and
// look ahead, which most generators pass to engines that have neither; what they mean is said without them.

const control = '\\x00-\\x1f\\x7f-\\x9f'
/** Spaces may come first; then something visible. */
const nameOf = (alsoNot: string) => `^[^\\S${control}]*[^\\s${control}${alsoNot}][^${control}${alsoNot}]*$`
const notDots = { not: { enum: ['.', '..'] } }
const upTo128 = { minLength: 1, maxLength: 128 }

const portable: Record<string, object> = {
  '^(?=\\s*\\S)[^\\p{Cc}\\p{Cs}]{1,128}$': { pattern: nameOf(''), ...upTo128 },
  '^(?!\\.{1,2}$)(?=\\s*\\S)[^\\p{Cc}\\p{Cs}]{1,128}$': { pattern: nameOf(''), ...upTo128, ...notDots },
  '^(?!\\.{1,2}$)(?=\\s*\\S)[^\\p{Cc}\\p{Cs}/+#?]{1,128}$': {
    pattern: nameOf('/+#?'),
    ...upTo128,
    ...notDots,
  },
  '^[^\\p{Cc}\\p{Cs}/+#?]{1,128}$': { pattern: `^[^${control}/+#?]*$`, ...upTo128 },
  '^(?:[^\\p{Cc}\\p{Cs}]|[\\n\\r\\t])*$': { pattern: '^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]*$' },
  '^https?://[^\\s\\p{Cc}\\p{Cs}]+$': { pattern: `^https?://[^\\s${control}]+$` },
}

export function toPortable(schema: Record<string, unknown>): Record<string, unknown> {
  const { pattern } = schema
  if (typeof pattern !== 'string') return schema
  return { ...schema, ...portable[pattern] }
}
