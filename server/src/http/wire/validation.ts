// Ajv for the routes. Nothing is coerced, except that whole numbers, booleans and lists in paths and queries are parsed.

import { mustBe } from '@jobcast/contract'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'

// Fastify's type for schemas is FastifySchema; ours are TypeBox objects, which Ajv accepts.
type AnySchema = Record<string, unknown>
type Validate = ((data: unknown) => boolean) & Pick<ValidateFunction, 'errors'>

/** One instance for all apps of a process: it caches compiled schemas, which are the same for all apps. */
let keptAjv: Ajv | undefined

export function buildValidator(): FastifySchemaCompiler<AnySchema> {
  keptAjv ??= buildAjv()
  const ajv = keptAjv
  return ({ schema, httpPart }) => {
    const validate = whenFirstUsed(() => ajv.compile(schema))
    return httpPart === 'body' ? validate : readingTexts(schema, validate)
  }
}

function buildAjv(): Ajv {
  const ajv = new Ajv({
    strict: true,
    allowUnionTypes: true,
    unicodeRegExp: true,
    useDefaults: true,
    verbose: true, // validation-error.ts reads the schema of the invalid value
  })
  ajv.addVocabulary([mustBe])
  // ajv-formats is CommonJS, so in Node its default export is the module.
  ;(addFormats as unknown as typeof addFormats.default)(ajv, ['date-time'])
  return ajv
}

/** Compiling the schemas of all routes takes 140 ms, a fifth of the startup time; those of one route take two or three. */
function whenFirstUsed(compile: () => ValidateFunction): Validate {
  let validate: ValidateFunction | undefined
  const check: Validate = (data) => {
    validate ??= compile()
    const isValid = validate(data)
    check.errors = validate.errors ?? null
    return isValid
  }
  return check
}

/** Ajv's own coercion would also accept 0x1, 1e0 and a leading space. */
function readingTexts({ properties = {} }: AnySchema, validate: Validate): Validate {
  const namesOf = (wanted: string) =>
    Object.entries(properties as Record<string, AnySchema>)
      .filter(([, { type }]) => type === wanted)
      .map(([name]) => name)
  const numbers = namesOf('integer')
  const booleans = namesOf('boolean')
  const lists = namesOf('array')
  const check: Validate = (data) => {
    const given = data as Record<string, unknown>
    for (const name of numbers) {
      const text = given[name]
      if (typeof text === 'string' && /^(?:0|-?[1-9]\d*)$/.test(text)) given[name] = Number(text)
    }
    for (const name of booleans) {
      const text = given[name]
      if (text === 'true' || text === 'false') given[name] = text === 'true'
    }
    for (const name of lists) {
      const texts = given[name]
      if (texts !== undefined) given[name] = [texts].flat().flatMap((text) => String(text).split(','))
    }
    const isValid = validate(given)
    check.errors = validate.errors?.map((error) => asGiven(error, lists)) ?? null
    return isValid
  }
  return check
}

/** Removes the index from errors in lists of a query, because the caller did not number their items. */
function asGiven(error: ErrorObject, lists: string[]): ErrorObject {
  const list = lists.find((name) => error.instancePath.startsWith(`/${name}/`))
  return list === undefined ? error : { ...error, instancePath: `/${list}` }
}
