// Downloads of devices: the content of a file by its signed URL from a document. No other credential is needed.

import { FileVersionParams } from '@jobcast/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { type FileDeps, type FileKey, noVersion } from '../../domain/file/file.ts'
import { requireLink } from '../../domain/file/file-links.ts'
import type { App } from '../app-type.ts'
import { contentResponses, type SendContentDeps, sendContent } from '../wire/send-content.ts'

const LinkQuery = Type.Object({
  owner: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  until: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  signature: Type.String({ minLength: 1, maxLength: 100 }),
})
type LinkQuery = { owner: number; until: number; signature: string }

export function addFileDownloads(app: App, deps: FileDeps & SendContentDeps): void {
  const url = '/files/:fileName/:version'
  const download = (request: FastifyRequest, reply: FastifyReply) =>
    sendLinked(deps, request, reply, request.params as FileKey)
  const input = { params: FileVersionParams, querystring: LinkQuery }
  app.route({
    method: 'GET',
    url,
    exposeHeadRoute: false,
    config: { refusals: ['J-319', 'J-322', 'J-500', 'J-509', 'J-908', 'J-909'] },
    schema: {
      ...input,
      operationId: 'downloadFile',
      tags: ['device protocol'],
      summary: 'Fetch the content of a file',
      description:
        'By the URL in the document of a device, which needs no token and is valid for an hour. Supports `Range`, `If-Range` ' +
        'and `If-None-Match`.',
      security: [],
      response: contentResponses,
    },
    handler: download,
  })
  app.route({ method: 'HEAD', url, schema: { ...input, hide: true }, handler: download })
}

/** The same for devices of hawkBit (see gateway/http/ddi/download-link.ts). The path has the file name with an extension. */
export function addDdiDownloads(app: App, deps: FileDeps & SendContentDeps): void {
  const params = Type.Object({
    tenant: Type.String({ maxLength: 128 }),
    deviceId: Type.String({ maxLength: 128 }),
    version: FileVersionParams.properties.version,
    artifact: Type.String({ maxLength: 200 }),
  })
  app.route({
    method: ['GET', 'HEAD'],
    url: '/:tenant/controller/v1/:deviceId/softwaremodules/:version/artifacts/:artifact',
    // Documented by hawkBit.
    schema: { params, querystring: LinkQuery, hide: true },
    handler: (request: FastifyRequest, reply: FastifyReply) => {
      const { artifact, version } = request.params as { artifact: string; version: string }
      return sendLinked(deps, request, reply, { fileName: artifact.split('.', 1)[0] ?? '', version })
    },
  })
}

async function sendLinked(
  deps: FileDeps & SendContentDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  key: FileKey,
) {
  const { owner, until, signature } = request.query as LinkQuery
  requireLink(deps, { ...key, owner, until, signature })
  const ref = `${key.fileName}@${key.version}`
  const [file] = await deps.store.findFiles({ ownerNo: owner, refs: [ref] })
  if (file === undefined || file.url !== null) throw noVersion(key)
  return sendContent(deps, request, reply, owner, file)
}
