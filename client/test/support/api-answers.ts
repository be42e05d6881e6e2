// Checks responses of the service against the OpenAPI document while the client uses it.

import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { readApiDocument } from '../../generate/generate.ts'
import { clientOperations } from '../../generate/schema-types.ts'

const document = readApiDocument()
export const operations = clientOperations(document)

const ajv = new Ajv2020({ strict: false })
;(addFormats as unknown as typeof addFormats.default)(ajv)
const compiled = new Map<string, ValidateFunction>()

/** Compiled once: there are hundreds of events, and each has the same schema. */
function validatorOf(schema: object): ValidateFunction {
  const key = JSON.stringify(schema)
  const known = compiled.get(key) ?? ajv.compile({ ...schema, components: document.components })
  compiled.set(key, known)
  return known
}

export function checkAgainst(schema: object, value: unknown, what: string): void {
  const validate = validatorOf(schema)
  assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)}`)
}

type WatchedFetch = {
  fetch: typeof fetch
  /** The operations that were called since it was asked last. */
  takeCalled(): string[]
}

/** The real fetch; each answer must be one that the document names, with a body of its schema. */
export function watchFetch(): WatchedFetch {
  let called: string[] = []
  return {
    async fetch(input, init) {
      const response = await fetch(input, init)
      called.push(await checkAnswer(init?.method ?? 'GET', new URL(String(input)).pathname, response.clone()))
      return response
    },
    takeCalled() {
      const taken = called
      called = []
      return taken
    },
  }
}

async function checkAnswer(method: string, pathname: string, response: Response): Promise<string> {
  const matching = operations.filter(
    (each) => each.method === method.toLowerCase() && pathPattern(each.path).test(pathname),
  )
  // `/keys/self` is more exact than `/keys/{keyId}`.
  const operation = matching.toSorted((a, b) => a.path.split('{').length - b.path.split('{').length)[0]
  assert.ok(operation, `${method} ${pathname} is not in the document`)
  const what = `${operation.operationId} ${response.status}`
  const described = operation.responses[response.status]
  assert.ok(described, `${what} is not in the document`)
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  const schema = described.content?.[type]?.schema
  if (described.content === undefined) assert.equal(await response.text(), '', what)
  else assert.ok(schema, `${what} is ${type}`)
  const isOne = type.endsWith('json') && !type.endsWith('ndjson')
  if (schema && isOne) checkAgainst(schema, await response.json(), what)
  else void response.body?.cancel() // of the copy: it ends only with the original
  return operation.operationId
}

function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}
