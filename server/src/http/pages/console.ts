// Serves the built console from memory. The page is revalidated on every load; its assets have content hashes in
// their names and are cached forever.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ApiError } from '@jobcast/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../app-type.ts'

/** First path segments of the pages the console routes itself. */
export const consolePages = [
  'sign-in',
  'trigger',
  'runs',
  'approvals',
  'executions',
  'stats',
  'devices',
  'groups',
  'calendar',
  'schedules',
  'windows',
  'secrets',
  'files', // except /files/{fileName}/{version}, which is the content for devices
  'jobs',
  'keys',
  'webhooks',
  'bridges',
  'enrollments',
  'audit',
]

/** Nothing from other origins, nothing inline, no framing. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

const notBuilt = `Jobcast is running. Its console is not built: run "npm run build" in the repository and start again.
The API is described at /docs.
`

type File = { type: string; content: Buffer; zipped?: Buffer; etag: string }

export function addConsole(app: App, folder: string): void {
  const files = readFiles(folder)
  const page = files.get('index.html')
  const sendPage = (request: FastifyRequest, reply: FastifyReply) => {
    if (page) return sendFile(request, reply, page, 'no-cache')
    return reply.code(503).header('content-type', 'text/plain; charset=utf-8').send(notBuilt)
  }
  const hide = { schema: { hide: true } }
  app.get('/', { ...hide, handler: sendPage })
  for (const name of consolePages) {
    app.get(`/${name}`, { ...hide, handler: sendPage })
    app.get(`/${name}/*`, { ...hide, handler: sendPage })
  }
  app.get('/assets/*', {
    ...hide,
    handler: (request: FastifyRequest, reply: FastifyReply) => {
      const file = files.get(`assets/${(request.params as { '*': string })['*']}`)
      if (file === undefined) throw new ApiError('J-901')
      return sendFile(request, reply, file, 'public, max-age=31536000, immutable')
    },
  })
}

/** Reads all files at startup, so that no request accesses the disk. They are few and small. */
function readFiles(folder: string): Map<string, File> {
  const files = new Map<string, File>()
  if (!existsSync(folder)) return files
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = types[extname(name)]
    if (type === undefined) continue
    const content = readFileSync(join(folder, name))
    const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`
    files.set(name.replaceAll('\\', '/'), { type, content, etag })
  }
  return files
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: File, caching: string): FastifyReply {
  reply
    .header('cache-control', caching)
    .header('etag', file.etag)
    .header('vary', 'accept-encoding')
    .header('content-security-policy', policy)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-opener-policy', 'same-origin')
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send()
  reply.header('content-type', file.type)
  if (!request.headers['accept-encoding']?.includes('gzip')) return reply.send(file.content)
  file.zipped ??= gzipSync(file.content)
  return reply.header('content-encoding', 'gzip').send(file.zipped)
}
