// Sends the content of a file: complete, a range, or 304 if the client already has it.

import { ApiError } from '@jobcast/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { FileContents } from '../../domain/file/ports/contents.ts'
import type { FoundFile } from '../../domain/file/ports/files.ts'
import { type ByteRange, openContent, rangeOf } from '../../domain/file/read-content.ts'
import type { Tell } from '../../observe/events.ts'
import type { TransferSlots } from '../../state/transfer-slots.ts'
import { onceClosed } from '../connections/once-closed.ts'
import { paceDownload } from '../connections/pace-downloads.ts'
import { cutSlowDownload } from '../connections/slow-transfers.ts'
import { quoted } from './if-match.ts'
import { tellStreamErrors } from './stream-errors.ts'

export type SendContentDeps = { contents: FileContents; downloads: TransferSlots; tell: Tell }

type Sent = Pick<FoundFile, 'fileName' | 'version' | 'size' | 'sha256'>

const binary = {
  'application/octet-stream': { schema: Type.Unsafe<never>({ type: 'string', format: 'binary' }) },
}

/** For the OpenAPI document. */
export const contentResponses = {
  200: { description: 'The content', content: binary },
  206: { description: 'The part of it that Range asks for', content: binary },
  304: { description: 'The client has it', type: 'null' },
}

/** Sends a version of this owner whose content is stored here. */
export async function sendContent(
  deps: SendContentDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  ownerNo: number,
  file: Sent,
): Promise<FastifyReply> {
  const { size, sha256, fileName, version } = file
  reply
    .header('etag', quoted(sha256))
    .header('accept-ranges', 'bytes')
    .header('cache-control', 'private, no-transform')
  if (hasIt(request, sha256)) return reply.code(304).send()
  const range = requireRange(request, reply, file)
  const { first, last } = range ?? { first: 0, last: size - 1 }
  const isHead = request.method === 'HEAD'
  const release = isHead ? () => undefined : deps.downloads.take(ownerNo)
  onceClosed(reply, release)
  reply
    .code(range ? 206 : 200)
    .header('content-type', 'application/octet-stream')
    .header('content-disposition', `attachment; filename="${fileName}-${version}"`)
    .header('x-content-type-options', 'nosniff')
    .header('content-length', String(last - first + 1))
  if (range) reply.header('content-range', `bytes ${first}-${last}/${size}`)
  if (isHead) return reply.send()
  const content = await openContent(deps, file, range).catch((error: unknown) => {
    release()
    for (const name of ['content-length', 'content-range', 'content-disposition', 'content-type'])
      reply.removeHeader(name)
    throw error
  })
  cutSlowDownload(request, reply)
  const paced = paceDownload(content)
  tellStreamErrors(paced, request, reply, deps.tell)
  return reply.send(paced)
}

function requireRange(request: FastifyRequest, reply: FastifyReply, file: Sent): ByteRange | undefined {
  const { range, 'if-range': ifRange } = request.headers
  try {
    return rangeOf(file, { range, ifRange: ifRange === undefined ? undefined : String(ifRange) })
  } catch (error) {
    if (error instanceof ApiError) reply.header('content-range', `bytes */${file.size}`)
    throw error
  }
}

function hasIt({ headers }: FastifyRequest, sha256: string): boolean {
  const tags = String(headers['if-none-match'] ?? '').split(',')
  return tags.some((tag) => ['*', quoted(sha256), `W/${quoted(sha256)}`].includes(tag.trim()))
}
