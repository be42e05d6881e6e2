// The Model Context Protocol for assistants: streamable HTTP, without sessions. Each tool is a call of the API by the same
// caller, so that keys, scopes, rate limits and the audit apply as usual.

import { ApiError } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'
import { type OwnPlanDeps, requireOwnPlan } from '../../domain/trigger/own-plan.ts'
import { type AssistantSessions, accessTokenOf, mcpUrl } from '../access/assistant-sessions.ts'
import { callerOf, shownKey } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { type ApiAnswer, type ApiCall, maxAnswerBytes } from '../mcp/call-api.ts'

const maxMcpBytes = 256 * 1024

type McpRouteDeps = OwnPlanDeps & { assistants: AssistantSessions | undefined }

export function addMcp(app: App, deps: McpRouteDeps, version: string): void {
  app.route({
    method: 'POST',
    url: mcpUrl,
    bodyLimit: maxMcpBytes,
    schema: { hide: true, operationId: 'callMcp' },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      // Browser pages must not use a session here.
      const token = deps.assistants && accessTokenOf(request)
      const key = token === undefined ? shownKey(request) : await deps.assistants?.sessionOf(request, token)
      if (key === undefined) throw new ApiError('J-802')
      // Removed from the protocol in 2025-06-18. As one request, a hundred calls would run at once.
      if (Array.isArray(request.body)) {
        throw new ApiError('J-500', { detail: 'Send one message per request: batches are not supported.' })
      }
      const { answerMcp } = await import('../mcp/answer-mcp.ts')
      const callApi = (call: ApiCall) => callAs(app, request, key, call)
      const mcpDeps = {
        ...{ version, scopes: caller.scopes, callApi },
        requireOwnPlan: (planId: string) => requireOwnPlan(deps, caller, planId),
      }
      const response = await answerMcp(mcpDeps, asWebRequest(request), request.body)
      const type = response.headers.get('content-type')
      if (type) reply.header('content-type', type)
      return reply.code(response.status).send(await response.text())
    },
  })
}

function asWebRequest({ headers }: FastifyRequest): Request {
  const { accept = '', 'content-type': type = '', 'mcp-protocol-version': version } = headers
  const protocol = typeof version === 'string' ? { 'mcp-protocol-version': version } : {}
  return new Request('http://mcp.invalid/mcp', {
    method: 'POST',
    headers: { accept, 'content-type': type, ...protocol },
  })
}

async function callAs(
  app: App,
  { ip, id, headers }: FastifyRequest,
  key: string,
  { method, path, query = {}, body }: ApiCall,
): Promise<ApiAnswer> {
  const agent = headers['user-agent']
  const answer = await app.inject({
    ...{ method, url: path, remoteAddress: ip, payloadAsStream: true },
    query: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
    headers: {
      ...{ 'x-api-key': key, 'x-request-id': id, accept: 'application/problem+json' },
      ...(agent && { 'user-agent': agent }),
    },
    ...(body && { payload: body }),
  })
  const isJson = /^application\/(problem\+)?json\b/.test(String(answer.headers['content-type']))
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.stream()) {
    bytes += chunk.length
    if (bytes > maxAnswerBytes) {
      answer.raw.res.destroy()
      return { status: 413, text: '', isJson: false, headers: {} }
    }
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString()
  return { status: answer.statusCode, text, isJson, headers: answer.headers }
}
