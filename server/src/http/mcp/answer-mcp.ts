// Handles one request of the Model Context Protocol with its official SDK. Without sessions: each request has its key, so any
// node can answer it, nothing is stored between requests, and a revoked key takes effect at once.
//
// Loaded with the first request, because the SDK takes time and memory at startup.

import { ApiError, type Scope } from '@jobcast/contract'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { Compile } from 'typebox/compile'
import { type ApiAnswer, type CallApi, refusalOf, tooLarge } from './call-api.ts'
import { promptsFor, promptText } from './prompts.ts'
import { type Tool, tools, toolsFor } from './tools.ts'
import { dataText, outputText, untrustedNote } from './untrusted-text.ts'

export type McpDeps = {
  version: string
  scopes: readonly Scope[]
  callApi: CallApi
  /** Throws J-505 if another principal created the plan. */
  requireOwnPlan: (planId: string) => Promise<void>
}

const instructions =
  'Jobcast runs jobs on a fleet of devices. To start something, call plan_run, show the plan to the user, and call start_plan with its planId only after the user agreed. ' +
  untrustedNote
const runUri = /^jobcast:\/\/runs\/([1-9]\d{0,15})$/
const runTemplate = {
  uriTemplate: 'jobcast://runs/{id}',
  name: 'run',
  title: 'A run',
  description: 'A run with its counts and rollout, and why executions did not succeed',
  mimeType: 'application/json',
}
const checks = new Map(tools.map(({ name, input }) => [name, Compile(input)]))

export async function answerMcp(deps: McpDeps, request: Request, parsedBody: unknown): Promise<Response> {
  const server = buildServer(deps)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  try {
    await server.connect(transport)
    const response = await transport.handleRequest(request, { parsedBody })
    // Read before the transport is closed.
    const text = await response.text()
    return new Response(text === '' ? null : text, response)
  } finally {
    await server.close()
  }
}

function buildServer(deps: McpDeps): Server {
  const { version, scopes } = deps
  const server = new Server(
    { name: 'jobcast', title: 'Jobcast', version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions },
  )
  const offered = toolsFor(scopes)
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: offered.map(describeTool) }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const tool = offered.find(({ name }) => name === params.name)
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name}`)
    return callTool(deps, tool, params.arguments ?? {})
  })
  server.setRequestHandler(ListResourcesRequestSchema, () => listRuns(deps))
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: scopes.includes('READ') ? [runTemplate] : [],
  }))
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => readRun(deps, params.uri))
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: promptsFor(scopes).map(({ scopes: _, ...prompt }) => prompt),
  }))
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const text = promptText(scopes, params.name, params.arguments ?? {})
    if (text === undefined) throw new McpError(ErrorCode.InvalidParams, 'Unknown prompt or invalid argument')
    return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] }
  })
  return server
}

function describeTool({ name, title, description, acts, input }: Tool) {
  return {
    ...{ name, title, description },
    inputSchema: JSON.parse(JSON.stringify(input)) as { type: 'object' },
    annotations: {
      title,
      readOnlyHint: acts === undefined,
      ...(acts && { destructiveHint: acts.destructive, idempotentHint: true }),
      openWorldHint: false,
    },
  }
}

async function callTool(
  { callApi, requireOwnPlan }: McpDeps,
  tool: Tool,
  input: Record<string, unknown>,
): Promise<CallToolResult> {
  const check = checks.get(tool.name)
  if (!check?.Check(input)) {
    const [error] = check?.Errors(input) ?? []
    const problem = error ? `${error.instancePath || 'arguments'} ${error.message}` : 'not valid'
    return refused(`Invalid arguments of ${tool.name}: ${problem.slice(0, 300)}. Unknown fields are refused.`)
  }
  if (tool.startsPlan) {
    const refusal = await requireOwnPlan(String(input[tool.startsPlan])).catch(asRefusal)
    if (refusal) return refusal
  }
  const answer = await tool.run(callApi, input)
  if (answer.status >= 400) return refused(refusalText(answer))
  // Only text: a structured result would repeat the same content without escaping its characters.
  const text = answer.isJson ? dataText(JSON.parse(answer.text)) : outputText(answer.text)
  if (text === undefined) return refused(tooLarge)
  return {
    content: [
      { type: 'text', text: untrustedNote },
      { type: 'text', text },
    ],
  }
}

function refusalText(answer: ApiAnswer): string {
  return dataText(refusalOf(answer)) ?? `The service answered ${answer.status}.`
}

function asRefusal(error: unknown): CallToolResult {
  if (!(error instanceof ApiError)) throw error
  const { code, message, status, details } = error
  return refused(dataText({ code, message, status, detail: details.detail }) ?? code)
}

function refused(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] }
}

async function listRuns({ callApi, scopes }: McpDeps) {
  if (!scopes.includes('READ')) return { resources: [] }
  const { status, text } = await callApi({ method: 'GET', path: '/job/api/runs', query: { limit: 20 } })
  if (status !== 200) throw new McpError(ErrorCode.InternalError, `The service answered ${status}`)
  const { items } = JSON.parse(text) as { items: { runId: number; jobName: string; total: number }[] }
  return {
    resources: items.map(({ runId, jobName, total }) => ({
      uri: `jobcast://runs/${runId}`,
      name: `run ${runId}`,
      title: `Run ${runId} of ${jobName} on ${total} ${total === 1 ? 'device' : 'devices'}`,
      mimeType: 'application/json',
    })),
  }
}

async function readRun({ callApi }: McpDeps, uri: string) {
  const [, runId] = runUri.exec(uri) ?? []
  if (runId === undefined)
    throw new McpError(ErrorCode.InvalidParams, 'A resource must be jobcast://runs/{id}')
  const read = async (path: string): Promise<unknown> => {
    const answer = await callApi({ method: 'GET', path: `/job/api/runs/${runId}${path}` })
    if (answer.status !== 200) throw new McpError(ErrorCode.InvalidParams, refusalText(answer))
    return JSON.parse(answer.text)
  }
  const text = dataText({ note: untrustedNote, run: await read(''), failures: await read('/failures') })
  if (text === undefined) throw new McpError(ErrorCode.InternalError, 'The run is too large to show')
  return { contents: [{ uri, mimeType: 'application/json', text }] }
}
