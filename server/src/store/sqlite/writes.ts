// The database interface of the writer's steps, inside its transactions.

import type { DatabaseSync } from 'node:sqlite'
import type { MoveWrites } from '../../domain/execution/move-batch.ts'
import { AuditLog } from '../audit-log.ts'
import { LIVE } from '../live-executions.ts'
import { Policies } from '../policies.ts'
import type { Sql, Values, Writes, ZoneChange } from '../queries.ts'
import { select } from '../schema/column.ts'
import { execution } from '../schema/tables.ts'
import { type EventLog, prepareEventLog } from './events.ts'
import { prepareMoveWriter } from './moves.ts'
import { openNamedQueries, type SqliteQueries, type Statement } from './named-queries.ts'

/** Called with the effects that the next commit makes visible. */
export type WriteListener = {
  onEvents(): void
  onMoved(writes: Pick<MoveWrites, 'moved' | 'delayedIds'>): void
  onZones(changes: ZoneChange[]): void
}

export type SqliteWrites = Writes & SqliteQueries & { readonly log: EventLog; readonly audit: AuditLog }

export const nobody: WriteListener = {
  onEvents: () => undefined,
  onMoved: () => undefined,
  onZones: () => undefined,
}

const BEGUN = select(execution.pick('jobExecutionId'))
const BEGUN_ON = `
  SELECT ${BEGUN} FROM execution WHERE device_no = :deviceNo AND state IN ('IN_PROGRESS', 'CANCELING')` as const

export function openWrites(db: DatabaseSync, { onEvents, onMoved, onZones } = nobody): SqliteWrites {
  const queries = openNamedQueries(db)
  const policies = new Policies()
  const log = prepareEventLog(db, onEvents)
  const audit = new AuditLog(log.audited)
  const write = prepareMoveWriter(db, log)
  const ask: (sql: Sql) => Statement = queries.statementOf
  return {
    ...queries,
    log,
    audit,
    readPolicies: (versions) => policies.read(queries, versions),
    send(sql: Sql, values: Values = {}) {
      ask(sql).run(values)
    },
    sendRows(sql: Sql, rows: readonly Values[]) {
      const { run } = ask(sql)
      for (const row of rows) run(row)
    },
    deviceChanged(type, change) {
      log.deviceChanged(type, change)
      audit.deviceChanged(type, change)
    },
    zonesChanged(changes) {
      const begunOn = (deviceNo: number) => ask(BEGUN_ON).all({ deviceNo }).map(BEGUN.read)
      onZones(
        changes.map((change) => {
          if (!change.windows?.length) return change
          const begun = begunOn(change.deviceNo).map(({ jobExecutionId }) => jobExecutionId)
          return { ...change, begun }
        }),
      )
    },
    resourceChanged(type, change) {
      log.resourceChanged(type, change)
      audit.resourceChanged(type, change)
    },
    runChanged(type, change) {
      log.runChanged(type, change)
      audit.runChanged(type, change)
    },
    entry: log.audited,
    audited: (change) => audit.audited(change),
    loadExecutions: async (sql: Sql, values: Values = {}) => queries.listsOf(sql)(values).map(LIVE.readList),
    writeMoves(writes) {
      write(writes)
      if (writes.moved.length > 0) onMoved(writes)
    },
  }
}
