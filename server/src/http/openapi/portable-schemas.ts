// Portable schemas for the OpenAPI document, with patterns that Python, Go and zod support. Our own patterns use Unicode
// properties and lookahead, which most generators pass on to engines without them; they are replaced by equivalents.

const control = '\\x00-\\x1f\\x7f-\\x9f'
/** Optional leading spaces, then a visible character. */
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
