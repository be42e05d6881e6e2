// The operations that a caller restricted to devices may use, and how each applies the restriction. Operations without an
// entry are refused (J-814).
//
// Refused on purpose, besides what is refused to callers restricted to jobs: changes of jobs, which other devices get, too;
// schedules and groups, which select from all devices.

/**
 * `open`: neither shows nor changes anything that belongs to a device. `device`, `execution`: the one in the path must be
 * visible to the caller, or it is unknown. `run`: at least one device of the run must be visible. `whole-run`: all of them
 * must be, because the operation acts on all or shows counts of all; otherwise it is refused. `applies`: the operation
 * applies the restriction itself.
 */
export type DeviceRule = 'open' | 'device' | 'execution' | 'run' | 'whole-run' | 'applies'

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
  getRun: 'applies',
  getRunDocument: 'run',
  changeRun: 'whole-run',
  getRunFailures: 'whole-run',
  getRunTimeline: 'whole-run',
  cancelRun: 'whole-run',
  retryRun: 'whole-run',
  rollBackRun: 'whole-run',
  pauseRun: 'whole-run',
  resumeRun: 'whole-run',
  advanceRun: 'whole-run',
  approveRun: 'whole-run',
  denyRun: 'whole-run',
  listJobs: 'open',
  getJob: 'open',
  listJobVersions: 'open',
  getJobVersion: 'open',
  getDevice: 'device',
  listDevices: 'applies',
  countDevices: 'applies',
  getFleet: 'applies',
  getStats: 'applies',
  listFleetDevices: 'applies',
  getFleetGroups: 'applies',
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
} as const satisfies Record<string, DeviceRule>

export const deviceOperations: readonly string[] = Object.keys(rules)

/** Undefined: a caller that is restricted to devices may not use it. */
export function deviceRuleOf(operationId: string | undefined): DeviceRule | undefined {
  const known: Readonly<Record<string, DeviceRule>> = rules
  return operationId !== undefined && Object.hasOwn(rules, operationId) ? known[operationId] : undefined
}
