// Ajv as the routes use it: a body is never coerced; a query or a path is text, so numbers in it are read.

import { Ajv, type Options } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'

// Fastify's type names a schema FastifySchema; ours are TypeBox objects, which Ajv takes as they are.
type AnySchema = Record<string, unknown>

export function buildValidator(): FastifySchemaCompiler<AnySchema> {
  const options: Options = { strict: true, allowUnionTypes: true, unicodeRegExp: true, useDefaults: true }
  const body = withFormats(new Ajv({ ...options, coerceTypes: false }))
  const text = withFormats(new Ajv({ ...options, coerceTypes: true }))
  return ({ schema, httpPart }) => (httpPart === 'body' ? body : text).compile(schema)
}

function withFormats(ajv: Ajv): Ajv {
  // ajv-formats is CommonJS: under Node's rules its default export is the module.
  ;(addFormats as unknown as typeof addFormats.default)(ajv, ['date-time'])
  return ajv
}
