// The OpenAPI document: as committed, complete, and kept by the answers.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { openApiFile } from '../../generate/generate.ts'
import { consolePages } from '../../src/http/pages/console.ts'
import { openApp } from './open-app.ts'

type Operation = { operationId: string; summary?: string; tags?: string[]; responses: Record<string, object> }
type Document = {
  openapi: string
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}
type Schema = {
  $ref?: string
  anyOf?: Schema[]
  required?: string[]
  properties?: Record<string, { type?: string }>
}

/** Pages, not calls. */
const pages = ['', 'docs', 'assets', 'auth']
const ofConsole = consolePages.map((name) => `/${name}`)

const api = await openSharedServer()
const document = (await api.call('GET', '/openapi.json')).json as Document
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
)

test('docs/openapi.json is what is served; if not: npm run generate', () => {
  assert.deepEqual(JSON.parse(readFileSync(openApiFile, 'utf8')), document)
})

test('it is OpenAPI 3.1, and every operation has a name of its own, a summary and a tag', () => {
  assert.match(document.openapi, /^3\.1\./)
  const names = operations.map(({ operation }) => operation.operationId)
  assert.equal(new Set(names).size, names.length)
  for (const { operation } of operations) {
    assert.ok(operation.summary, operation.operationId)
    assert.equal(operation.tags?.length, 1, operation.operationId)
  }
})

test('every tag is declared and described, and is that of an operation', () => {
  const declared = document.tags.map(({ name }) => name)
  const used = new Set(operations.flatMap(({ operation }) => operation.tags ?? []))
  assert.deepEqual([...declared].sort(), [...used].sort())
  for (const { name, description } of document.tags) assert.ok(description, name)
})

/** Those that a value of this schema may be. */
function formsOf(schema: Schema): Schema[] {
  const named =
    schema.$ref === undefined ? undefined : document.components.schemas[schema.$ref.split('/').at(-1) ?? '']
  if (named) return formsOf(named)
  return schema.anyOf?.flatMap(formsOf) ?? [schema]
}

// What openapi-fetch gives as `error` is the union of all of them, so `error.message` type-checks if every one has it.
test('every form of every error has a message, those of owners a code and a status as well', () => {
  let forms = 0
  for (const { path, operation } of operations) {
    const isOfDevice = path.startsWith('/things/')
    for (const [status, response] of Object.entries(operation.responses)) {
      if (Number(status) < 400) continue
      const { content = {} } = response as { content?: Record<string, { schema: Schema }> }
      const where = `${operation.operationId} ${status}`
      assert.ok(content['application/json'], where)
      for (const form of Object.values(content).flatMap(({ schema }) => formsOf(schema))) {
        forms++
        for (const field of isOfDevice ? ['message'] : ['message', 'code', 'status']) {
          assert.ok(form.required?.includes(field), `${where}: ${field}`)
          assert.equal(
            form.properties?.[field]?.type,
            field === 'status' ? 'integer' : 'string',
            `${where}: ${field}`,
          )
        }
      }
    }
  }
  assert.ok(forms > 500, String(forms))
})

test('its patterns are understood by engines without Unicode properties and look-ahead, as of Python, Go and zod', () => {
  const patterns = new Set<string>()
  JSON.stringify(document, (key, value) => {
    if (key === 'pattern' && typeof value === 'string') patterns.add(value)
    return value
  })
  assert.ok(patterns.size > 8)
  for (const pattern of patterns) {
    assert.doesNotMatch(pattern, /\\p\{|\(\?[=!<]/, pattern)
    for (const flags of ['', 'u']) new RegExp(pattern, flags)
  }
  const { jobName } = (
    document.components.schemas.TriggerRequest as { properties: Record<string, { pattern: string }> }
  ).properties
  const pattern = new RegExp(jobName?.pattern ?? '')
  for (const name of ['restart', ' a b', 'größe 🚀', '.']) assert.match(name, pattern)
  for (const name of ['', '  ', 'a\n', '\u0000']) assert.doesNotMatch(name, pattern)
})

/** The routes as Fastify prints them: a tree, a level for each part of the path. */
function routesOf(tree: string): string[] {
  const above: string[] = []
  return tree
    .split('\n')
    .filter((line) => /[├└]── /.test(line))
    .flatMap((line) => {
      const [, indent = '', part = ''] = /^([^\w/*]*?)(?:[├└]── )([^ ]+)/.exec(line) ?? []
      const level = indent.length / 4
      above.splice(level)
      above[level] = part
      return line.includes('(') ? above.join('') : [] // without methods it is only a shared beginning
    })
}

test('every route of the app is in it, and each has the methods it allows', async (t) => {
  const { app } = await openApp(t)
  const routes = routesOf(app.printRoutes({ commonPrefix: false }))
    .filter((route) => !pages.includes(route.replace('*', '').split('/')[1] ?? ''))
    .filter((route) => !ofConsole.includes(route.replace(/\/?\*$/, '')))
    // The protocol of assistants describes itself.
    .filter((route) => route !== '/mcp' && !route.startsWith('/.well-known/'))
    .map((route) => route.replaceAll(/:(\w+)/g, '{$1}'))
  assert.deepEqual(routes.toSorted(), Object.keys(document.paths).toSorted())

  const { token } = await newDevice(api, '1')
  const headers = { authorization: `Bearer ${token}` }
  for (const [path, methods] of Object.entries(document.paths)) {
    const described = Object.keys(methods).map((method) => method.toUpperCase())
    if (described.includes('GET')) described.push('HEAD')
    const reply = await api.call('OPTIONS', path.replaceAll(/\{\w+\}/g, '1'), { headers })
    assert.equal(reply.headers.get('allow'), described.sort().join(', '), path)
  }
})

test('what devices call asks for the token or certificate of a device, or the token of an enrollment, everything else under /job/api for an API key', () => {
  for (const { path, operation } of operations) {
    const ofDevice = [{ deviceToken: [] }, { deviceCertificate: [] }]
    const inGateway = path.endsWith('/enroll') ? [{ enrollmentToken: [] }] : ofDevice
    const security = path.startsWith('/things/') ? inGateway : undefined
    if (!path.startsWith('/job/api/') && security === undefined) continue
    // Whoever signs in has no session yet.
    const open = ['/job/api/session', '/job/api/session/tickets/check', '/job/api/session/exchange']
    const isOpen = open.includes(path)
    const expected = isOpen ? [] : security
    assert.deepEqual((operation as { security?: unknown }).security, expected, path)
  }
})

test('every operation under /job/api names the answers for a bad key and for storage that is away', () => {
  for (const { path, operation } of operations.filter((one) => one.path.startsWith('/job/api/'))) {
    assert.ok('403' in operation.responses && '503' in operation.responses, path)
  }
})
