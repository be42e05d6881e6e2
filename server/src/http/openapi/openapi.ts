// The OpenAPI 3.1 document, generated from the schemas that validate requests, and a page to browse and try it offline.

import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { resources, sessionCookie } from '@jobcast/contract'
import Type from 'typebox'
import type { App } from '../app-type.ts'
import { describeWebhooks } from './describe-webhooks.ts'
import { toPortable } from './portable-schemas.ts'

const description = `
Trigger a named job on one device or on a whole fleet with one call, and follow every execution to its end.

Send your API key in the header \`X-API-Key\`. A signed-in browser sends its session cookie instead; such requests can also
fail with J-808 (the session has ended) and J-809 (the request comes from another origin). Errors have the three fields
\`code\`, \`message\` and \`status\`; with \`Accept: application/problem+json\` they are RFC 9457 problems with details.
`.trim()

// The plugin's default policy allows images and fonts from other hosts, framing by our own pages, and upgrades http to https.
const onlyFromHere = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export async function describeApi(app: App, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Jobcast',
        version,
        description,
        contact: { name: 'The operator of this service' },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'The server that this document comes from' }],
      tags: [
        { name: 'trigger', description: 'Trigger a job' },
        { name: 'executions', description: 'Executions and runs' },
        { name: 'rollouts', description: 'Rollouts: pause, resume, approve; freeze the fleet' },
        { name: 'events', description: 'Event stream' },
        ...Object.values(resources).map(({ name, about }) => ({ name, description: about })),
        { name: 'files', description: 'Files: content that devices fetch' },
        { name: 'keys', description: 'API keys and owners' },
        { name: 'session', description: 'Browser sessions' },
        { name: 'audit', description: 'Who has changed what, sealed' },
        { name: 'fleet', description: 'Fleet overview' },
        {
          name: 'device protocol',
          description: 'Calls made by devices: the AWS IoT Jobs data plane, and enrollment',
        },
        { name: 'service', description: 'Health, metrics and this document' },
      ],
      security: [{ apiKey: [] }, { session: [] }],
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: sessionCookie,
            description: 'Instead of a key; requests that change something must come from the same origin',
          },
          deviceToken: { type: 'http', scheme: 'bearer', description: 'Device token' },
          // OpenAPI 3.1 has this type, but its declarations do not.
          deviceCertificate: deviceCertificate as object as { type: 'http'; scheme: string },
          enrollmentToken: { type: 'http', scheme: 'bearer', description: 'Enrollment token' },
        },
      },
    },
    hideUntagged: false,
    transformObject: (given) =>
      'openapiObject' in given
        ? nameSchemas({ ...given.openapiObject, webhooks: describeWebhooks() })
        : given.swaggerObject,
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: onlyFromHere,
    // Keys entered on the page are not stored in the browser.
    uiConfig: { persistAuthorization: false, displayRequestDuration: true, tryItOutEnabled: true },
    theme: { title: 'Jobcast API', css: [{ filename: 'jobcast.css', content: '.topbar { display: none }' }] },
  })
}

export const noContent = (description: string) => Type.Unsafe<undefined>({ type: 'null', description })

const deviceCertificate = {
  type: 'mutualTLS',
  description:
    'With `--device-ca`: a certificate whose CN is the deviceId, in requests without `Authorization`',
}

/** Moves every object schema with a title into the components and refers to it by $ref. */
function nameSchemas<Document extends object>(document: Document): Document {
  const schemas: Record<string, unknown> = {}
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    if (typeof value !== 'object' || value === null) return value
    const copy = toPortable(
      Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, visit(inner)])),
    )
    if ('operationId' in copy) copy.description ??= `${copy.summary}.`
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

/** If every field is optional, so is the body. */
function needsBody(operation: object): boolean {
  const { requestBody } = operation as { requestBody: { content: Record<string, { schema: object }> } }
  return Object.values(requestBody.content).some(({ schema }) => 'required' in schema)
}
