// Files of owners: versions are put as content, which is streamed, or as references to content elsewhere.

import type { IncomingMessage } from 'node:http'
import {
  ApiError,
  FileParams,
  FileReference,
  FileUpload,
  FileVersion,
  FileVersionParams,
  fileReferenceType,
  Page,
  PageQuery,
  toInstant,
} from '@jobcast/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { type KeyNames, readKeyNames } from '../../domain/access/key-names.ts'
import {
  deleteFile,
  type FileDeps,
  type FileKey,
  getFile,
  listFileVersions,
  putFile,
  putFileReference,
  requireFileRoom,
} from '../../domain/file/file.ts'
import type { StoredFile } from '../../domain/file/ports/files.ts'
import { uploadKeptMs } from '../../domain/file/ports/uploads.ts'
import { putPart } from '../../domain/file/upload.ts'
import type { TransferSlots } from '../../state/transfer-slots.ts'
import { callerOf } from '../access/authenticate.ts'
import { requireStillAllowed, type StillAllowedDeps } from '../access/still-allowed.ts'
import type { App } from '../app-type.ts'
import { holdRequest } from '../connections/held-request.ts'
import { allowLongUpload } from '../connections/long-uploads.ts'
import { noContent } from '../openapi/openapi.ts'
import { digestOf, wholeDigestOf } from '../wire/content-digest.ts'
import { contentRangeOf } from '../wire/content-range.ts'
import { numberSlice, textSlice, toPage } from '../wire/cursor.ts'
import { parseBody } from '../wire/json-body.ts'
import { isUtf8Type } from '../wire/json-type.ts'
import { contentResponses, type SendContentDeps, sendContent } from '../wire/send-content.ts'
import { buildValidator } from '../wire/validation.ts'
import { toValidationError } from '../wire/validation-error.ts'

export type FileRouteDeps = FileDeps & SendContentDeps & StillAllowedDeps & { uploads: TransferSlots }

const maxReferenceBytes = 16 * 1024
const maxPutNo = 2_147_483_647
/** How often the caller of an upload that takes long is identified again. */
const checkEveryMs = 3000
const [list, ofName, ofVersion] = [
  '/job/api/files',
  '/job/api/files/:fileName',
  '/job/api/files/:fileName/:version',
]

export async function addFiles(app: App, deps: FileRouteDeps): Promise<void> {
  // In a separate scope, in which bodies of all types are streams.
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, body, done) => done(null, body))
    addPut(scope as unknown as App, deps)
  })
  addReads(app, deps)
  addContent(app, deps)
  app.route({
    method: 'DELETE',
    url: ofVersion,
    config: { scopes: ['MANAGE'], refusals: ['J-315', 'J-319'] },
    schema: {
      operationId: 'deleteFileVersion',
      tags: ['files'],
      summary: 'Delete a version of a file',
      description:
        'Rejected (J-315) while the current version of a job, a schedule or an unfinished execution uses it. Documents that ' +
        'name no version use the newest.',
      params: FileVersionParams,
      response: { 204: noContent('Deleted') },
    },
    handler: async (request, reply) => {
      await deleteFile(deps, callerOf(request), request.params)
      return reply.code(204).send(undefined)
    },
  })
}

function addPut(app: App, deps: FileRouteDeps): void {
  const validator = buildValidator()
  const validate = validator({ schema: { ...FileReference }, method: 'PUT', url: '', httpPart: 'body' })
  app.route({
    method: 'PUT',
    url: ofVersion,
    config: {
      scopes: ['MANAGE'],
      takesFile: true,
      refusals: ['J-320', 'J-323', 'J-508', 'J-904', 'J-905', 'J-908', 'J-912'],
    },
    // The body is validated once its type is known.
    validatorCompiler: (route) => (route.httpPart === 'body' ? () => true : validator(route)),
    schema: {
      operationId: 'putFileVersion',
      tags: ['files'],
      summary: 'Put a version of a file',
      description:
        'The content, of any type but that of references; or a reference to content that is stored elsewhere. A version never ' +
        'changes: the same content again returns 200, other content is rejected (J-320). With `Content-Digest` or `Digest`, ' +
        'content that does not match is rejected (J-508) and discarded. With `Content-Range` the body is a part: it is kept for ' +
        'a day, `Repr-Digest` is that of the whole content, and the last part creates the version.',
      params: FileVersionParams,
      headers: Type.Object({
        'content-digest': Type.Optional(
          Type.String({ maxLength: 1000, description: '`sha-256=:…:`, the sha256 of the content in base64' }),
        ),
        digest: Type.Optional(Type.String({ maxLength: 1000, description: '`sha-256=…`, the older form' })),
        'repr-digest': Type.Optional(
          Type.String({
            maxLength: 1000,
            description: '`sha-256=:…:` of the whole content, also with Content-Range',
          }),
        ),
        'content-range': Type.Optional(
          Type.String({
            maxLength: 100,
            description:
              '`bytes FIRST-LAST/SIZE` of a part; `bytes */SIZE` queries where the upload continues',
          }),
        ),
      }),
      body: {
        content: {
          'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
          [fileReferenceType]: { schema: FileReference },
        },
      },
      response: {
        200: { ...FileVersion, description: 'It existed already, with the same content' },
        201: { ...FileVersion, description: 'Created' },
        202: { ...FileUpload, description: 'More is missing' },
      },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const key = request.params
      if (request.headers['content-encoding'] !== undefined) {
        throw new ApiError('J-905', { suffix: 'send the content without Content-Encoding' })
      }
      if (request.headers['content-range'] !== undefined) return receivePart(deps, request, reply, key)
      const { created, value } = isReference(request)
        ? await putFileReference(deps, caller, key, await readReference(request, validate))
        : await receiveFile(deps, request, reply, key)
      const [view] = await toViews(deps, caller.ownerNo, [value])
      return reply.code(created ? 201 : 200).send(view as FileVersion)
    },
  })
}

function addReads(app: App, deps: FileRouteDeps): void {
  app.route({
    method: 'GET',
    url: list,
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'listFiles',
      tags: ['files'],
      summary: 'List files, ordered by name',
      description: 'The newest version of each.',
      querystring: PageQuery,
      response: { 200: Page(FileVersion) },
    },
    handler: async (request) => {
      const { ownerNo } = callerOf(request)
      const { items, next } = await deps.store.listFiles({ ownerNo, slice: textSlice(request.query) })
      return toPage({ items: await toViews(deps, ownerNo, items), next }, (view) => view)
    },
  })

  app.route({
    method: 'GET',
    url: ofName,
    config: { scopes: ['READ'], refusals: ['J-319'] },
    schema: {
      operationId: 'listFileVersions',
      tags: ['files'],
      summary: 'List versions of a file, the newest first',
      params: FileParams,
      querystring: PageQuery,
      response: { 200: Page(FileVersion) },
    },
    handler: async (request) => {
      const caller = callerOf(request)
      const slice = numberSlice(request.query, maxPutNo)
      const { items, next } = await listFileVersions(deps, caller, request.params.fileName, slice)
      return toPage({ items: await toViews(deps, caller.ownerNo, items), next }, (view) => view)
    },
  })

  app.route({
    method: 'GET',
    url: ofVersion,
    config: { scopes: ['READ'], refusals: ['J-319'] },
    schema: {
      operationId: 'getFileVersion',
      tags: ['files'],
      summary: 'Get a version of a file',
      params: FileVersionParams,
      response: { 200: FileVersion },
    },
    handler: async (request) => {
      const caller = callerOf(request)
      const [view] = await toViews(deps, caller.ownerNo, [await getFile(deps, caller, request.params)])
      return view as FileVersion
    },
  })
}

function addContent(app: App, deps: FileRouteDeps): void {
  const url = `${ofVersion}/content`
  const content = async (request: FastifyRequest, reply: FastifyReply) => {
    const caller = callerOf(request)
    const file = await getFile(deps, caller, request.params as FileKey)
    if (file.url !== null) return reply.redirect(file.url, 302)
    // A download that takes long ends when its caller loses its access.
    holdRequest(deps, request, reply)
    return sendContent(deps, request, reply, caller.ownerNo, file)
  }
  app.route({
    method: 'GET',
    url,
    exposeHeadRoute: false,
    config: { scopes: ['READ'], refusals: ['J-319', 'J-509', 'J-908'] },
    schema: {
      operationId: 'getFileContent',
      tags: ['files'],
      summary: 'Get the content of a version of a file',
      description: 'With `Range`, `If-Range` and `If-None-Match`. A reference is answered by a redirect.',
      params: FileVersionParams,
      response: {
        ...contentResponses,
        302: { description: 'It is stored elsewhere', type: 'null' },
      },
    },
    handler: content,
  })
  app.route({
    method: 'HEAD',
    url,
    config: { scopes: ['READ'] },
    schema: { params: FileVersionParams, hide: true },
    handler: content,
  })
}

async function receiveFile(deps: FileRouteDeps, request: FastifyRequest, reply: FastifyReply, key: FileKey) {
  const caller = callerOf(request)
  const length = request.headers['content-length']
  const announced = length === undefined ? undefined : Number(length)
  const sha256 = digestOf(request)
  await requireFileRoom(deps, caller, key, { announced, sha256 })
  const release = deps.uploads.take(caller.ownerNo)
  allowLongUpload(request, reply)
  try {
    const body = allowedChunksOf(deps, request)
    const requireAllowed = () => requireStillAllowed(deps, request)
    return await putFile(deps, caller, key, { body, announced, sha256, requireAllowed })
  } finally {
    release()
  }
}

async function receivePart(deps: FileRouteDeps, request: FastifyRequest, reply: FastifyReply, key: FileKey) {
  const caller = callerOf(request)
  const range = contentRangeOf(request.headers['content-range'])
  if (range === undefined || isReference(request)) {
    const detail = 'A reference cannot be sent in parts.'
    throw new ApiError('J-500', { field: 'content-range', detail })
  }
  const { size } = range
  const length = request.headers['content-length']
  if (range.part && length !== undefined && Number(length) !== range.part.length) {
    const detail = 'The length of the body differs from Content-Range.'
    throw new ApiError('J-500', { field: 'content-range', detail })
  }
  const sha256 = wholeDigestOf(request)
  const release = deps.uploads.take(caller.ownerNo)
  const part = range.part && { ...range.part, body: allowedChunksOf(deps, request) }
  if (part) allowLongUpload(request, reply)
  const requireAllowed = () => requireStillAllowed(deps, request)
  try {
    const outcome = await putPart(deps, caller, key, { size, sha256, requireAllowed }, part)
    if (outcome.kind === 'put') {
      const [view] = await toViews(deps, caller.ownerNo, [outcome.put.value])
      return reply.code(outcome.put.created ? 201 : 200).send(view as FileVersion)
    }
    const { received } = outcome
    const expiresAt = toInstant(deps.now() + uploadKeptMs)
    return reply.code(202).send({ ...key, size, received, expiresAt })
  } finally {
    release()
  }
}

/** Stops with the refusal of a caller that loses its access meanwhile, because an upload may take hours. */
async function* allowedChunksOf(deps: StillAllowedDeps, request: FastifyRequest): AsyncGenerator<Buffer> {
  let checkedAt = deps.now()
  for await (const chunk of chunksOf(request)) {
    if (Math.abs(deps.now() - checkedAt) >= checkEveryMs) {
      await requireStillAllowed(deps, request)
      checkedAt = deps.now()
    }
    yield chunk
  }
}

/** A refused body is not destroyed, because that would close the connection before the response is sent. */
function chunksOf({ body }: FastifyRequest): AsyncIterable<Buffer> {
  const stream = body as IncomingMessage | undefined
  return stream ? stream.iterator({ destroyOnReturn: false }) : noChunks()
}

async function* noChunks(): AsyncGenerator<Buffer> {}

function isReference({ headers }: FastifyRequest): boolean {
  return isUtf8Type(headers['content-type'] ?? '', fileReferenceType)
}

type Validate = ReturnType<ReturnType<typeof buildValidator>>

async function readReference(request: FastifyRequest, validate: Validate): Promise<FileReference> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of chunksOf(request)) {
    size += chunk.length
    if (size > maxReferenceBytes) throw new ApiError('J-904', { detail: 'A reference has at most 16 KiB.' })
    chunks.push(chunk)
  }
  const value = parseBody(Buffer.concat(chunks))
  if (validate(value) !== true) throw toValidationError(validate.errors ?? [])
  return value as FileReference
}

async function toViews(
  { store, now }: FileDeps,
  ownerNo: number,
  files: StoredFile[],
): Promise<FileVersion[]> {
  const makers = files.map(({ createdBy }) => createdBy)
  const keyNames = await readKeyNames(store, ownerNo, now(), makers)
  return files.map((file) => toView(file, keyNames))
}

function toView(file: StoredFile, keyNames: KeyNames): FileVersion {
  const { fileName, version, isNewest, size, sha256, sha1, md5, url, createdAt, createdBy, usedBy } = file
  const { jobNames, scheduleNames, runIds } = usedBy
  return {
    ...{ fileName, version, isNewest, size, sha256, sha1, md5, url },
    createdAt: toInstant(createdAt),
    createdBy,
    createdByName: keyNames(createdBy)?.keyName ?? null,
    usedBy: [
      ...jobNames.map((name) => `job:${name}`),
      ...scheduleNames.map((name) => `schedule:${name}`),
      ...runIds.map((runId) => `run:${runId}`),
    ],
  }
}
