// OpenAPI 3.1 from the schemas that validate, and a page to read and try it that needs no internet.

import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { sessionCookie } from '@jobcast/contract'
import Type from 'typebox'
import type { App } from './app-type.ts'

const description = `
Trigger a named job on one device or on a whole fleet with one call, and follow every execution to its end.

Give your API key in the header \`X-API-Key\`. A browser that is signed in shows its session instead; that can also fail
with J-808 (the sign-in has ended) and J-809 (the page is not one of this service). Errors have the three fields \`code\`, \`message\` and \`status\`;
with \`Accept: application/problem+json\` they come as RFC 9457 with details.
`.trim()

// The plugin's own policy lets pictures and fonts come from elsewhere and turns http into https.
const onlyFromHere =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; frame-ancestors 'self'"

export async function describeApi(app: App, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Jobcast', version, description, license: { name: 'Apache-2.0' } },
      tags: [
        { name: 'trigger', description: 'The one call this service is about' },
        { name: 'executions', description: 'What became of it' },
        { name: 'events', description: 'Be told instead of asking' },
        { name: 'webhooks', description: 'Be told at an address of yours' },
        { name: 'jobs', description: 'What devices can be told to do' },
        { name: 'devices', description: 'Who can be told' },
        { name: 'keys', description: 'Who may call' },
        { name: 'session', description: 'Browsers that are signed in' },
        { name: 'fleet', description: 'All devices at a glance' },
        {
          name: 'device door',
          description:
            'What devices call: the AWS IoT Jobs data plane, with the token of the device; and how it gets one',
        },
        { name: 'service', description: 'Health and metrics' },
      ],
      security: [{ apiKey: [] }, { session: [] }],
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: sessionCookie,
            description: 'In place of a key; what changes something must come from a page of the same origin',
          },
          deviceToken: { type: 'http', scheme: 'bearer', description: 'The token of the device' },
          enrollmentToken: { type: 'http', scheme: 'bearer', description: 'The token of an enrolment' },
        },
      },
    },
    hideUntagged: false,
    transformObject: (given) =>
      'openapiObject' in given ? nameSchemas(given.openapiObject) : given.swaggerObject,
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: onlyFromHere,
    uiConfig: { persistAuthorization: true, displayRequestDuration: true, tryItOutEnabled: true },
    theme: { title: 'Jobcast API', css: [{ filename: 'jobcast.css', content: '.topbar { display: none }' }] },
  })
}

export const noContent = (description: string) => Type.Unsafe<undefined>({ type: 'null', description })

/** Every object schema with a title becomes a component of that name, and is referred to where it is used. */
function nameSchemas<Document extends object>(document: Document): Document {
  const schemas: Record<string, unknown> = {}
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    if (typeof value !== 'object' || value === null) return value
    const copy: Record<string, unknown> = Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, visit(inner)]),
    )
    if ('requestBody' in copy)
      copy.requestBody = { ...(copy.requestBody as object), required: needsBody(value) }
    if (typeof copy.title !== 'string' || copy.type !== 'object') return copy
    schemas[copy.title] = copy
    return { $ref: `#/components/schemas/${copy.title}` }
  }
  const visited = visit(document) as Document & { components?: object }
  const named = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
  return { ...visited, components: { ...visited.components, schemas: named } }
}

/** Where every field may be left out, so may the body. */
function needsBody(operation: object): boolean {
  const { requestBody } = operation as { requestBody: { content: Record<string, { schema: object }> } }
  return Object.values(requestBody.content).some(({ schema }) => 'required' in schema)
}
