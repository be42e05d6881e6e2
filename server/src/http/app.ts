// The HTTP app: hooks and routes, registered one by one.

import type { IncomingMessage } from 'node:http'
import type { TlsOptions } from 'node:tls'
import fastify, { type FastifyRequest } from 'fastify'
import type { ExchangeDeps } from '../domain/access/exchange-token.ts'
import { secretId } from '../domain/access/secret-text.ts'
import type { IdentifySessionDeps } from '../domain/access/session.ts'
import type { AuditDeps } from '../domain/audit/read-audit.ts'
import type { ListBridgesDeps } from '../domain/bridge/list-bridges.ts'
import type { DeviceDeps } from '../domain/device/device.ts'
import type { FreezeDeps } from '../domain/device/freeze-fleet.ts'
import type { FollowEventsDeps } from '../domain/event/follow-events.ts'
import type { ExplainDeps } from '../domain/execution/explain-execution.ts'
import type { ReadDeps } from '../domain/execution/read-execution.ts'
import type { ReadOutputDeps } from '../domain/execution/read-output.ts'
import type { ChangeRolloutDeps } from '../domain/rollout/change-rollout.ts'
import type { SecretDeps } from '../domain/secret/secret.ts'
import type { CancelRunDeps } from '../domain/trigger/cancel-run.ts'
import type { CreateRunDeps } from '../domain/trigger/create-run.ts'
import type { RetryDeps } from '../domain/trigger/retry-run.ts'
import type { TriggerDeps } from '../domain/trigger/trigger-job.ts'
import type { WebhookDeps } from '../domain/webhook/webhook.ts'
import type { WindowDeps } from '../domain/window/window.ts'
import type { BodyBudget } from '../limits/body-budget.ts'
import type { IsTrustedProxy } from '../limits/client-address.ts'
import type { RateLimits } from '../limits/rate-limits.ts'
import type { Tell } from '../observe/events.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Documents } from '../state/documents.ts'
import type { HealthCheck } from '../state/health-check.ts'
import type { KeyUse } from '../state/key-use.ts'
import type { Refusals } from '../state/refusals.ts'
import type { SessionUse } from '../state/session-use.ts'
import type { StreamCounts } from '../state/stream-counts.ts'
import { AssistantSessions } from './access/assistant-sessions.ts'
import { type AuthenticateDeps, authenticateCallers, lookUpCaller } from './access/authenticate.ts'
import { confineCallers } from './access/confine-callers.ts'
import { allowOrigins } from './access/cors.ts'
import { noteRefusals } from './access/note-refusals.ts'
import { addSecurityHeaders } from './access/security-headers.ts'
import { userAgentOf } from './access/user-agent.ts'
import type { App } from './app-type.ts'
import { answerClientErrors } from './connections/client-error.ts'
import { keepConnections } from './connections/connections.ts'
import { countBodies } from './connections/count-bodies.ts'
import { countBegunRequests, feedAllInTurns } from './connections/feed-in-turns.ts'
import { serveOneByOne } from './connections/pipelining.ts'
import { refuseCutAddresses } from './connections/refuse-cut-addresses.ts'
import { describeApi } from './openapi/openapi.ts'
import { describeRefusals } from './openapi/route-refusals.ts'
import { addConsole } from './pages/console.ts'
import { watchRoutes } from './pages/method-not-allowed.ts'
import { asRoutable, refuseUnknownRoutes } from './pages/route-not-found.ts'
import { addAudit } from './routes/audit.ts'
import { type AuthDeps, addAuth } from './routes/auth.ts'
import { addBridges } from './routes/bridges.ts'
import { addDevices } from './routes/devices.ts'
import { addEnrollments } from './routes/enrollments.ts'
import { addEvents } from './routes/events.ts'
import { addExchange } from './routes/exchange.ts'
import { addExecutionHistory } from './routes/execution-history.ts'
import { addExecutionOutput } from './routes/execution-output.ts'
import { addExecutions } from './routes/executions.ts'
import { addFileDownloads } from './routes/file-downloads.ts'
import { addFiles, type FileRouteDeps } from './routes/files.ts'
import { addFleet, type FleetRouteDeps } from './routes/fleet.ts'
import { addGroups } from './routes/groups.ts'
import { addImportDevices } from './routes/import-devices.ts'
import { addJobVersions } from './routes/job-versions.ts'
import { addJobs } from './routes/jobs.ts'
import { addKeys, addOwners } from './routes/keys.ts'
import { addMcp } from './routes/mcp.ts'
import { addMcpSignIn } from './routes/mcp-sign-in.ts'
import { addRollouts } from './routes/rollouts.ts'
import { addRunAgain } from './routes/run-again.ts'
import { addRuns } from './routes/runs.ts'
import { addSchedules, type ScheduleRouteDeps } from './routes/schedules.ts'
import { addSecrets } from './routes/secrets.ts'
import { addMetrics, addService } from './routes/service.ts'
import { addSession } from './routes/session.ts'
import { addSessions } from './routes/sessions.ts'
import { addStats } from './routes/stats.ts'
import { addTriggerJob, type TriggerLimits } from './routes/trigger-job.ts'
import { addWebhookDeliveries } from './routes/webhook-deliveries.ts'
import { addWebhooks } from './routes/webhooks.ts'
import { addWindows } from './routes/windows.ts'
import { compressAnswers } from './wire/compress.ts'
import { replyWithErrors } from './wire/error-reply.ts'
import { readJsonBodies } from './wire/json-body.ts'
import { buildValidator } from './wire/validation.ts'

export type AppDeps = TriggerDeps &
  ChangeRolloutDeps &
  FreezeDeps &
  WindowDeps &
  SecretDeps &
  DeviceDeps &
  ReadDeps &
  ReadOutputDeps &
  FollowEventsDeps &
  RetryDeps &
  WebhookDeps &
  ExplainDeps &
  FleetRouteDeps &
  ListBridgesDeps &
  FileRouteDeps &
  ScheduleRouteDeps &
  CreateRunDeps &
  AuditDeps &
  AuthDeps &
  ExchangeDeps &
  IdentifySessionDeps &
  CancelRunDeps & {
    refusals: Refusals
    documents: Documents
    keyUse: KeyUse
    sessionUse: SessionUse
    health: HealthCheck
    limits: RateLimits
    bodies: BodyBudget
    tell: Tell
    metrics: Metrics
    streams: StreamCounts
  }

type AppOptions = {
  version: string
  maxDevices: number
  /** With TLS, the options of the server. */
  tls: TlsOptions | undefined
  /** Proxies whose X-Forwarded-For is trusted. */
  isTrustedProxy: IsTrustedProxy | undefined
  /** Whether /metrics is served here too. */
  hasMetrics: boolean
  /** Origins of pages that may call the API. */
  corsOrigins?: readonly string[]
  /** Folder of the built console; may be missing. */
  consoleFolder: string
  /** Further routes with their own prefix, sign-in and error format. */
  addRoutes?: (app: App) => void
}

// A client that sends one byte per second is disconnected within 15 s.
const requestTimeoutMs = 12_000
const checkConnectionsMs = 1000
// Longer than the longest ?wait=. A client that reads nothing during this time is considered gone.
const silentConnectionMs = 75_000
const maxHeaderBytes = 8 * 1024
const maxBodyBytes = 1024 * 1024
// A name of 128 characters, each of four bytes, with its quotes and its comma.
const maxBytesPerDevice = 520
const maxTriggerBytesEver = 256 * 1024 * 1024

export async function buildApp(deps: AppDeps, options: AppOptions): Promise<App> {
  // Java's HttpClient offers an upgrade to HTTP/2 with every request; ignore it.
  const shouldUpgradeCallback = ({ headers }: IncomingMessage) =>
    headers.upgrade?.toLowerCase() === 'websocket' && app.server.listenerCount('upgrade') > 0
  const app: App = fastify({
    ...(options.tls && { https: { ...options.tls, ...httpOptions, shouldUpgradeCallback } }),
    ...(!options.tls && { http: { ...httpOptions, shouldUpgradeCallback } }),
    requestTimeout: requestTimeoutMs,
    connectionTimeout: silentConnectionMs,
    bodyLimit: maxBodyBytes,
    return503OnClosing: false,
    genReqId: requestIdsOf(deps.now()),
    trustProxy: options.isTrustedProxy ?? false,
    clientErrorHandler: answerClientErrors(deps.tell),
    rewriteUrl: asRoutable,
    // No path is longer than the headers may be, so route schemas validate every name.
    routerOptions: { maxParamLength: maxHeaderBytes },
  }) as unknown as App
  // An unknown expectation may be ignored (RFC 9110, 10.1.1); Node would answer 417 with an empty body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.setValidatorCompiler(buildValidator())
  app.setSerializerCompiler(() => JSON.stringify)
  readJsonBodies(app)
  const assistants = deps.people && new AssistantSessions(deps, deps.people)
  const authenticateDeps: AuthenticateDeps = { ...deps, assistants }
  replyWithErrors(app, deps.tell, (request) => lookUpCaller(authenticateDeps, request))
  tellRequests(app, deps.tell)
  keepConnections(app, () => deps.stopping.aborted)
  addSecurityHeaders(app, options.tls !== undefined)
  allowOrigins(app, options.corsOrigins ?? [])
  authenticateCallers(app, authenticateDeps)
  noteRefusals(app, deps.refusals)
  countBodies(app, deps.bodies)
  refuseUnknownRoutes(app)

  compressAnswers(app)
  confineCallers(app, deps)
  describeRefusals(app)
  const routes = watchRoutes(app)
  await describeApi(app, options.version)
  const limits = triggerLimits(options.maxDevices)
  addTriggerJob(app, deps, limits)
  addExecutions(app, deps)
  addExecutionHistory(app, deps)
  addExecutionOutput(app, deps)
  addRuns(app, deps, limits)
  addRunAgain(app, deps)
  addRollouts(app, deps)
  addEvents(app, deps)
  addAudit(app, deps)
  addWebhooks(app, deps)
  addWebhookDeliveries(app, deps)
  addJobs(app, deps)
  addJobVersions(app, deps)
  addDevices(app, deps)
  addImportDevices(app, deps)
  addGroups(app, deps)
  addSchedules(app, deps)
  addSecrets(app, deps)
  await addFiles(app, deps)
  addFileDownloads(app, deps)
  addWindows(app, deps)
  addEnrollments(app, deps)
  addKeys(app, deps)
  addOwners(app, deps)
  addSession(app, deps)
  addSessions(app, deps)
  addExchange(app, deps)
  addAuth(app, deps)
  addFleet(app, deps)
  addStats(app, deps)
  addBridges(app, deps)
  addMcp(app, { ...deps, assistants }, options.version)
  addMcpSignIn(app, assistants)
  addService(app, deps, options.version)
  if (options.hasMetrics) addMetrics(app, deps)
  addConsole(app, options.consoleFolder)
  options.addRoutes?.(app)
  routes.finish()
  feedAllInTurns(app.server)
  serveOneByOne(app.server, refuseCutAddresses(app.server, deps, options.isTrustedProxy))
  countBegunRequests(app.server)
  return app
}

const httpOptions = {
  maxHeaderSize: maxHeaderBytes,
  // Node uses the smaller of the two for the headers and the larger (default 60 s) for the whole request.
  headersTimeout: requestTimeoutMs,
  connectionsCheckingInterval: checkConnectionsMs,
  requireHostHeader: false, // connections.ts answers in our error format
}

function triggerLimits(maxDevices: number): TriggerLimits {
  const maxTriggerBytes = Math.min(maxBodyBytes + maxDevices * maxBytesPerDevice, maxTriggerBytesEver)
  return { maxDevices, maxTriggerBytes, otherBytes: maxBodyBytes, bytesPerDevice: maxBytesPerDevice }
}

/** The request id of the caller if it is well formed, otherwise a short one that is different after each start. */
function requestIdsOf(startedAt: number): (request: Pick<IncomingMessage, 'headers'>) => string {
  const prefix = startedAt.toString(36)
  let count = 0
  return ({ headers }) => {
    const given = headers['x-request-id']
    if (typeof given === 'string' && /^[\w.:~+/=-]{1,128}$/.test(given)) return given
    return `${prefix}-${(++count).toString(36)}`
  }
}

/** Unknown routes and methods share one label, because clients could create any number of them. */
function labelsOf({ method, route: { url, isWrongMethod } }: FastifyRequest): {
  method: string
  route: string
} {
  return url === undefined || isWrongMethod ? { method: 'any', route: 'none' } : { method, route: url }
}

function triedKeyId({ caller, headers }: FastifyRequest): string | undefined {
  const tried = headers['x-api-key']
  return caller === null && typeof tried === 'string' ? secretId('jc', tried) : undefined
}

function tellRequests(app: App, tell: Tell): void {
  app.addHook('onResponse', (request, reply, done) => {
    tell({
      kind: 'request-answered',
      requestId: request.id,
      ...labelsOf(request),
      status: reply.statusCode,
      ms: reply.elapsedTime,
      keyId: request.caller?.keyId,
      ownerId: request.caller?.ownerId,
      runId: request.runId,
      triedKeyId: triedKeyId(request),
      code: request.errorCode,
      address: request.ip,
      userAgent: userAgentOf(request),
    })
    done()
  })
}
