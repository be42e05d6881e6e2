// Which operations a caller that is restricted to jobs may use, and how each applies the restriction: one entry for each.
// What has no entry is refused (J-814), so a new operation is closed until somebody has decided. For callers that are
// restricted to devices there is such a list in device-operations.ts; who is restricted to both needs both.
//
// Refused on purpose: whatever is about the owner as a whole (fleet, stats, audit, sessions, owners); what lists or names
// the jobs that use it (secrets, files, windows); what would act beyond the restriction (webhooks, which send all events;
// credentials and enrollments, by which somebody could act as a device that is given other jobs; changes of devices and
// groups, which other jobs are aimed at); names that all jobs share and that a put would tell apart (schedules).

/**
 * `open`: it neither shows nor changes what belongs to a job. `job`, `run`, `execution`, `schedule`: the one in its path
 * must exist for the caller, else it is unknown. `applies`: the operation applies the restriction itself.
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
  getDevice: 'open',
  listDevices: 'open',
  countDevices: 'open',
  getGroup: 'open',
  listGroups: 'open',
  getFreeze: 'open',
  createKey: 'applies',
  listKeys: 'applies',
  revokeKey: 'applies',
  getOwnKey: 'open',
  createSignInTicket: 'open',
  // Each of its tools is a call of its own.
  callMcp: 'open',
} as const satisfies Record<string, RestrictedRule>

export const restrictedOperations: readonly string[] = Object.keys(rules)

/** Undefined: a restricted caller may not use it. */
export function restrictedRuleOf(operationId: string | undefined): RestrictedRule | undefined {
  const known: Readonly<Record<string, RestrictedRule>> = rules
  return operationId !== undefined && Object.hasOwn(rules, operationId) ? known[operationId] : undefined
}
