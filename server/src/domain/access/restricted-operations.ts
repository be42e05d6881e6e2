// The operations that a caller restricted to jobs may use, and how each applies the restriction. Operations without an entry
// are refused (J-814), so new operations are closed by default. The list for callers restricted to devices is in
// device-operations.ts; a caller restricted to both needs an entry in both.
//
// Refused on purpose: operations on the owner as a whole (audit, sessions, owners; the map of the fleet, which shows the last
// execution of each device, of whatever job); resources that list the jobs
// that use them (secrets, files, windows); effects beyond the restriction (credentials and
// enrollments, with which one could act as a device that gets other jobs; changes of devices and groups, which other jobs
// target); puts that would reveal which names other jobs have taken (schedules).

/**
 * `open`: neither shows nor changes anything that belongs to a job. `job`, `run`, `execution`, `schedule`: the one in the
 * path must be visible to the caller, or it is unknown. `applies`: the operation applies the restriction itself.
 */
export type RestrictedRule = 'open' | 'job' | 'run' | 'execution' | 'schedule' | 'applies'

const rules = {
  triggerJob: 'applies',
  createRun: 'applies',
  listRuns: 'applies',
  listExecutions: 'applies',
  followEvents: 'applies',
  getExecution: 'execution',
  getExecutionDocument: 'execution',
  cancelExecution: 'execution',
  getExecutionHistory: 'execution',
  explainExecution: 'execution',
  getExecutionOutput: 'execution',
  getRun: 'run',
  changeRun: 'run',
  getRunDocument: 'run',
  getRunFailures: 'run',
  getRunTimeline: 'run',
  cancelRun: 'run',
  retryRun: 'run',
  rollBackRun: 'run',
  pauseRun: 'run',
  resumeRun: 'run',
  advanceRun: 'run',
  approveRun: 'run',
  denyRun: 'run',
  listJobs: 'applies',
  putJob: 'job',
  getJob: 'job',
  deleteJob: 'job',
  listJobVersions: 'job',
  getJobVersion: 'job',
  restoreJobVersion: 'job',
  listSchedules: 'applies',
  getSchedule: 'schedule',
  deleteSchedule: 'schedule',
  listNextOccurrences: 'schedule',
  pauseSchedule: 'schedule',
  resumeSchedule: 'schedule',
  fireSchedule: 'schedule',
  getFleet: 'applies',
  getStats: 'applies',
  getDevice: 'open',
  listDevices: 'open',
  countDevices: 'open',
  getGroup: 'open',
  listGroups: 'open',
  getFreeze: 'open',
  listWebhooks: 'applies',
  putWebhook: 'applies',
  getWebhook: 'applies',
  deleteWebhook: 'applies',
  pauseWebhook: 'applies',
  resumeWebhook: 'applies',
  changeWebhookSecret: 'applies',
  testWebhook: 'applies',
  listDeliveries: 'applies',
  replayDelivery: 'applies',
  replayWebhook: 'applies',
  createKey: 'applies',
  listKeys: 'applies',
  revokeKey: 'applies',
  getOwnKey: 'open',
  createSignInTicket: 'open',
  // Each tool call is a call of its own.
  callMcp: 'open',
} as const satisfies Record<string, RestrictedRule>

export const restrictedOperations: readonly string[] = Object.keys(rules)

/** Undefined: a restricted caller may not use it. */
export function restrictedRuleOf(operationId: string | undefined): RestrictedRule | undefined {
  const known: Readonly<Record<string, RestrictedRule>> = rules
  return operationId !== undefined && Object.hasOwn(rules, operationId) ? known[operationId] : undefined
}
