// Types of requests and responses of the API, from its OpenAPI document.

import { compile, type JSONSchema } from 'json-schema-to-typescript'

type Json = { [key: string]: unknown }
type Parameter = { name: string; in: string; required?: boolean; schema: Json }
type Operation = {
  operationId: string
  parameters?: Parameter[]
  requestBody?: Json
  responses: Record<string, { content?: Record<string, { schema: Json }> }>
}
export type ApiDocument = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Json> }
}

/** Operations of owners, and the health of the service. Device routes and metrics are omitted. */
export function clientOperations({ paths }: ApiDocument): (Operation & { method: string; path: string })[] {
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/job/api/') || ['/livez', '/readyz', '/version'].includes(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
    )
}

/** Browsers have globals with these names, so a missing import would go unnoticed. */
const renamed: Record<string, string> = { Event: 'AnyEvent' }

/** One type per named schema of these operations, and one per list of query parameters. */
export async function schemaTypes(document: ApiDocument): Promise<string> {
  const operations = clientOperations(document)
  const named = document.components.schemas
  const used = [...namesUsedBy(operations.map(takenAndGiven), named)].map((name) => [name, named[name]])
  const asked = operations
    .filter((operation) => queryOf(operation).length > 0)
    .map((operation) => [queryName(operation), querySchema(operation)])
  const text = await compile(asDefinitions([...used, ...asked]), 'Whole', {
    bannerComment: '',
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: true,
    format: false,
  })
  return text
    .replace(/^export interface Whole \{\s*\}\n/, '')
    .replace(
      /(?:\n \* ?)?\n \* This interface was referenced by `Whole`'s JSON-Schema\n \* via the `definition` "\w+"\./g,
      '',
    )
    .replace(/\/\*\*\n \*\/\n/g, '\n')
}

/** Without errors, which have classes. */
function takenAndGiven({ requestBody, responses }: Operation): unknown {
  return [requestBody, Object.entries(responses).filter(([status]) => status < '300')]
}

function asDefinitions(entries: unknown[][]): JSONSchema {
  const definitions = Object.fromEntries(
    entries
      .map(([name, schema]) => [rename(String(name)), schema])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  )
  const text = JSON.stringify({ type: 'object', additionalProperties: false, definitions })
  const moved = text.replace(/#\/components\/schemas\/(\w+)/g, (_, name) => `#/definitions/${rename(name)}`)
  return JSON.parse(moved, withoutNotes) as JSONSchema
}

function rename(name: string): string {
  return renamed[name] ?? name
}

/** Titles would generate the types a second time, and examples are not typed. */
function withoutNotes(key: string, value: unknown): unknown {
  const isNote =
    (key === 'title' && typeof value === 'string') || (key === 'examples' && Array.isArray(value))
  return isNote ? undefined : value
}

function namesUsedBy(part: unknown, schemas: Record<string, Json>, found = new Set<string>()): Set<string> {
  for (const [, name = ''] of JSON.stringify(part).matchAll(/#\/components\/schemas\/(\w+)/g)) {
    if (found.has(name)) continue
    found.add(name)
    namesUsedBy(schemas[name], schemas, found)
  }
  return found
}

function queryOf({ parameters = [] }: Operation): Parameter[] {
  return parameters.filter((parameter) => parameter.in === 'query')
}

/** `ListJobsQuery` for `listJobs`. */
function queryName({ operationId }: Operation): string {
  return `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Query`
}

function querySchema(operation: Operation): Json {
  const properties = Object.fromEntries(queryOf(operation).map(({ name, schema }) => [name, schema]))
  return { type: 'object', properties, additionalProperties: false }
}
