// Concurrent writes share commits. This file has the limits of each queue.

import type { Store } from './domain/common/ports/store.ts'
import { deviceText } from './domain/device/ports/device-link.ts'
import type { AttributeReport } from './domain/device/ports/devices.ts'
import type { DeviceReport, ReportOutcome } from './domain/execution/device-report.ts'
import type { Moment } from './domain/execution/execution.ts'
import { recordStamped } from './domain/execution/stamp-reports.ts'
import type { Trigger, TriggerOutcome } from './domain/trigger/trigger.ts'
import type { Tell, WriteKind } from './observe/events.ts'
import type { Metrics } from './observe/metrics.ts'
import type { DiskSpace } from './state/disk-space.ts'
import type { ExecutionNotes } from './state/execution-notes.ts'
import { GroupCommit } from './store/group-commit.ts'
import { largeTrigger } from './store/sqlite/create-executions.ts'

// 20,000 executions take about 20 ms to write; larger groups would only make small calls wait longer.
const maxGroupWeight = 20_000
// About two seconds of work. Beyond that a 503 serves a caller better than a longer wait.
const maxWaitingWeight = 500_000
const maxWaitingItems = 10_000
// One owner that floods the service leaves half of the queue to all others.
const maxOwnerShare = 0.5
// The second group is prepared and sent while the writer thread syncs the first.
const maxInFlight = 2

// On PostgreSQL the fixed cost of two light commits exceeds the gain of starting the second one early: 5,300 triggers per second of one device each, and 7,300 with one commit at a time.
const lightWeight = 1000

// Every connected device may have one report in flight, and a whole fleet may reconnect at once.
const maxWaitingReports = 200_000
/** A report weighs one, plus one per this many bytes of output. */
const outputBytesPerWeight = 64

/** `isRemote`: a commit takes a round trip to a database server. */
export function groupWrites(
  store: Store,
  tell: Tell,
  metrics: Metrics,
  isRemote: boolean,
  disk: DiskSpace | undefined,
  notes?: ExecutionNotes,
  /** Default: reports are stamped with their arrival. */
  moment?: () => Moment,
) {
  const options = (of: WriteKind) => ({
    maxGroupWeight,
    maxWaitingWeight,
    maxWaitingItems,
    maxInFlight,
    ...(isRemote && { lightWeight }),
    maxOwnerShare,
    ownerOf: ({ ownerNo }: { ownerNo: number }) => ownerNo,
    onFailure: ({ items }: { items: number }) => tell({ kind: 'group-failed', of, items }),
  })
  const triggers = new GroupCommit(store.createExecutions, {
    ...options('triggers'),
    ...(!isRemote && { heavyWeight: largeTrigger }),
    weigh: (trigger: Trigger) => trigger.deviceIds.length,
    onCommit: ({ items, outs, ms }) => {
      tell({ kind: 'group-committed', of: 'triggers', items, ms })
      tell({ kind: 'executions-created', count: countCreated(outs) })
    },
  })
  const devices = new GroupCommit(store.putDevices, {
    ...options('devices'),
    weigh: () => 1,
    onCommit: ({ items, ms }) => tell({ kind: 'group-committed', of: 'devices', items, ms }),
  })
  const record: Store['recordReports'] = moment
    ? (reports, options) => recordStamped({ store, moment }, reports, options)
    : store.recordReports
  const reports = new GroupCommit(record, {
    ...options('reports'),
    maxWaitingItems: maxWaitingReports,
    maxWaitingWeight: 10 * maxWaitingReports,
    ownerOf: (report: DeviceReport) => report.device.ownerNo,
    keyOf: (report: DeviceReport) => deviceText(report.device),
    weigh: weighReport,
    onCommit: ({ items, outs, ms }) => {
      tell({ kind: 'group-committed', of: 'reports', items, ms })
      notes?.reported(outs)
    },
  })
  const attributes = new GroupCommit(store.recordAttributes, {
    ...options('attributes'),
    maxWaitingItems: maxWaitingReports,
    maxWaitingWeight: 10 * maxWaitingReports,
    ownerOf: (report: AttributeReport) => report.device.ownerNo,
    weigh: weighAttributes,
    onCommit: ({ items, ms }) => tell({ kind: 'group-committed', of: 'attributes', items, ms }),
  })
  const help = 'Trigger calls waiting for their commit'
  metrics.gauge('jobcast_triggers_waiting', help, () => triggers.waitingItems)
  return {
    async recordTrigger(trigger: Trigger): Promise<TriggerOutcome> {
      if (disk?.refusesTriggers) throw disk.refusal()
      return triggers.write(trigger)
    },
    requireDisk() {
      if (disk?.refusesTriggers) throw disk.refusal()
    },
    recordDevice: devices.write.bind(devices),
    recordAttributes: attributes.write.bind(attributes),
    recordReport: (report: DeviceReport): Promise<ReportOutcome> =>
      disk?.refusesProgress && report.kind !== 'start-next'
        ? recordWithoutSpace(disk, report)
        : reports.write(report),
  }

  async function recordWithoutSpace(full: DiskSpace, report: DeviceReport): Promise<ReportOutcome> {
    if (report.kind !== 'update') throw full.refusal()
    const outcome = await reports.write({ ...report, refusesProgress: true })
    if (outcome.kind === 'no-space') throw full.refusal()
    return outcome
  }
}

function weighReport(report: DeviceReport): number {
  return report.kind === 'output' ? 1 + report.data.length / outputBytesPerWeight : 1
}

function weighAttributes({ changes }: AttributeReport): number {
  return 1 + Object.keys(changes).length
}

function countCreated(outcomes: TriggerOutcome[]): number {
  return outcomes.reduce((sum, each) => sum + (each.kind === 'created' ? each.run.devices.length : 0), 0)
}
