// Strict JSON bodies: the right type, charset and encoding, valid UTF-8, no __proto__, bounded nesting. Strings are
// validated by the schema of the route.

import type { IncomingMessage } from 'node:http'
import { ApiError } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'
import secureJson from 'secure-json-parse'
import { isNestedTooDeep, maxJsonDepth } from '../../domain/common/json-depth.ts'
import { nextTurn } from '../../state/turns.ts'
import type { App } from '../app-type.ts'
import { turnToRead } from '../connections/turns.ts'
import { countHeader } from './count-header.ts'
import { formType, readForm } from './form-body.ts'
import { isJsonType, isUtf8Type } from './json-type.ts'
import { NestedTooDeep, NotJson, pickFields, TooLarge, type WantedFields } from './pick-fields.ts'
import { wrongType } from './wrong-type.ts'

// Removes one byte order mark and rejects invalid UTF-8.
const utf8 = new TextDecoder('utf-8', { fatal: true })
const byteOrderMark = '\ufeff'

/**
 * Below this size, JSON.parse reads a list of devices four times as fast, and takes about 10 ms in the worst case (empty
 * objects: 35 ms for 1 MiB).
 */
const pickedBytes = 256 * 1024

const lineTypes = ['application/x-ndjson', 'application/jsonl', 'text/csv']

export function readJsonBodies(app: App): void {
  app.removeAllContentTypeParsers()
  // Uses a callback, because a promise would slow down every request, and few bodies are large.
  const parse = (request: FastifyRequest, body: Buffer, done: Done) => {
    const turn = turnToRead(body.length)
    if (turn) {
      void turn.then(() => readBody(request, body)).then((value) => done(null, value), done)
      return
    }
    let value: unknown
    try {
      value = readBody(request, body)
    } catch (error) {
      done(error as Error)
      return
    }
    done(null, value)
  }
  // Registered by name for speed: for other types Fastify tries every parser on every request.
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parse)
  app.addContentTypeParser(lineTypes, async (request: FastifyRequest, body: IncomingMessage) => {
    requireLines(request)
    return body
  })
  app.addContentTypeParser(formType, { parseAs: 'buffer' }, readForm)
  app.addContentTypeParser('*', { parseAs: 'buffer' }, parse)
}

type Done = (error: Error | null, body?: unknown) => void

/** Returns a promise only for a large body. */
function readBody(request: FastifyRequest, body: Buffer): unknown {
  const { largeBody, takesLines } = request.route
  if (request.route.takesForm) throw wrongType(request)
  requireJsonType(request)
  if (takesLines) return body
  return largeBody && body.length >= pickedBytes ? pickBody(body, largeBody) : parseBody(body)
}

function requireJsonType(request: FastifyRequest): void {
  const { 'content-type': type = '', 'content-encoding': encoding } = request.headers
  // Node keeps the first of two headers; a proxy in front may have checked the second.
  const isPatch = request.method === 'PATCH' && isJsonType(type, 'application/merge-patch+json')
  const isJson = (isPatch || isJsonType(type)) && countHeader(request, 'content-type') === 1
  if (!isJson || encoding !== undefined) throw wrongType(request)
}

function requireLines(request: FastifyRequest): void {
  const { 'content-type': type = '', 'content-encoding': encoding } = request.headers
  const isLines =
    lineTypes.some((each) => isUtf8Type(type, each)) && countHeader(request, 'content-type') === 1
  if (!request.route.takesLines || !isLines || encoding !== undefined) throw wrongType(request)
}

async function pickBody(bytes: Buffer, wanted: WantedFields): Promise<unknown> {
  try {
    return await pickFields(bytes, wanted, nextTurn)
  } catch (error) {
    if (error instanceof NestedTooDeep) throw nestedTooDeep()
    if (error instanceof NotJson) throw notJson(error)
    if (error instanceof TooLarge) throw new ApiError('J-904')
    throw error
  }
}

export function parseBody(bytes: Buffer): unknown {
  // Many clients send a Content-Type with an empty body; the route decides whether it needs one.
  if (bytes.length === 0) return undefined
  if (isNestedTooDeep(bytes)) throw nestedTooDeep()
  try {
    const text = utf8.decode(bytes)
    // The parser would remove a second mark; JSON has none.
    if (text.startsWith(byteOrderMark)) throw new Error('more than one byte order mark')
    return secureJson.parse(text, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    throw notJson(error as Error)
  }
}

function nestedTooDeep(): ApiError {
  return new ApiError('J-500', { detail: `The body is nested deeper than ${maxJsonDepth}.` })
}

function notJson({ message }: Error): ApiError {
  return new ApiError('J-500', { detail: `The body is not JSON: ${message}` })
}
