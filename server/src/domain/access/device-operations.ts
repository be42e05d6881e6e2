// Which operations a caller that is restricted to devices may use, and how each applies the restriction: one entry for
// each. What has no entry is refused (J-814).
//
// Refused on purpose, besides what is refused to callers that are restricted to jobs: changes of jobs, which other devices
// are given as well; schedules and groups, which name devices and are for all of them.

/**
 * `open`: it neither shows nor changes what belongs to a device. `device`, `execution`: the one in its path must exist for
 * the caller, else it is unknown. `run`: so must one of the devices of the run. `whole-run`: all of them must, as the call
 * acts on all, or shows what is counted over all: if others have devices in it, it is refused. `applies`: the operation
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
  getFreeze: 'open',
  createKey: 'applies',
  listKeys: 'applies',
  revokeKey: 'applies',
  getOwnKey: 'open',
  createSignInTicket: 'open',
  // Each of its tools is a call of its own.
  callMcp: 'open',
} as const satisfies Record<string, DeviceRule>

export const deviceOperations: readonly string[] = Object.keys(rules)

/** Undefined: a caller that is restricted to devices may not use it. */
export function deviceRuleOf(operationId: string | undefined): DeviceRule | undefined {
  const known: Readonly<Record<string, DeviceRule>> = rules
  return operationId !== undefined && Object.hasOwn(rules, operationId) ? known[operationId] : undefined
}
