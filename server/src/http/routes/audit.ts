// GET /job/api/audit: the audit log, as a list, as an export that can be verified, and the checkpoint for it.

import { Readable } from 'node:stream'
import { AuditCheckpoint, AuditEntry, AuditEntryPage, AuditQuery } from '@jobcast/contract'
import Type from 'typebox'
import { entryLine } from '../../domain/audit/audit-entry.ts'
import { type AuditDeps, exportAudit, getCheckpoint, listAudit } from '../../domain/audit/read-audit.ts'
import type { Tell } from '../../observe/events.ts'
import { callerOf, type IdentifyDeps } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { type HeldRequest, holdRequest } from '../connections/held-request.ts'
import { numberSlice, toPage } from '../wire/cursor.ts'
import { tellStreamErrors } from '../wire/stream-errors.ts'

const Lines = Type.Unsafe<Readable>({ type: 'string', contentSchema: AuditEntry })

export function addAudit(app: App, deps: AuditDeps & IdentifyDeps & { tell: Tell }): void {
  app.route({
    method: 'GET',
    url: '/job/api/audit',
    config: { scopes: ['AUDIT'], refusals: [] },
    schema: {
      operationId: 'listAudit',
      tags: ['audit'],
      summary: 'List entries of the audit, newest first',
      description:
        'Each change by a caller, each sign-in and each refusal for a missing scope has one entry. With a filter a page may ' +
        'have fewer entries than its limit, or none, while `nextCursor` says that there are more.',
      querystring: AuditQuery,
      response: { 200: AuditEntryPage },
    },
    handler: async (request) => {
      const { limit, cursor, ...filter } = request.query
      const slice = numberSlice({ limit, ...(cursor !== undefined && { cursor }) })
      return toPage(await listAudit(deps, callerOf(request), filter, slice), (entry) => {
        return JSON.parse(entryLine(entry)) as AuditEntry
      })
    },
  })

  app.route({
    method: 'GET',
    url: '/job/api/audit/export',
    config: { scopes: ['AUDIT'], refusals: [] },
    schema: {
      operationId: 'exportAudit',
      tags: ['audit'],
      summary: 'Export the audit log with its seals',
      description:
        'All sealed entries, oldest first, one per line; each seal follows the entries that it covers. Verify the export with ' +
        '`jobcast audit verify` and a checkpoint that you have stored elsewhere.',
      response: {
        200: {
          description: 'Entries and seals, one per line',
          content: { 'application/x-ndjson': { schema: Lines } },
        },
      },
    },
    handler: async (request, reply) => {
      const held = holdRequest(deps, request, reply)
      const lines = exportAudit(deps, callerOf(request), () => held.callerGone.aborted)
      const stream = Readable.from(whileValid(lines, held), { objectMode: false })
      tellStreamErrors(stream, request, reply, deps.tell)
      return reply
        .type('application/x-ndjson; charset=utf-8')
        .header('cache-control', 'no-store')
        .send(stream)
    },
  })

  app.route({
    method: 'GET',
    url: '/job/api/audit/checkpoint',
    config: { scopes: ['AUDIT'], refusals: ['J-321'] },
    schema: {
      operationId: 'getAuditCheckpoint',
      tags: ['audit'],
      summary: 'Get the last seal of the audit, and the key that verifies it',
      description: 'Keep it outside of the service. The event `audit.sealed` has the same data.',
      response: { 200: AuditCheckpoint },
    },
    handler: (request) => getCheckpoint(deps, callerOf(request)),
  })
}

/** Fails at the end if the caller has lost its access, so that the export does not look complete. */
async function* whileValid(lines: AsyncIterable<string>, held: HeldRequest): AsyncGenerator<string> {
  yield* lines
  await held.requireValid()
}
