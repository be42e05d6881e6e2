// What the steps of the writer ask with, inside its transactions.

import type { DatabaseSync } from 'node:sqlite'
import type { MoveWrites } from '../../domain/execution/move-batch.ts'
import { LIVE } from '../live-executions.ts'
import { Policies } from '../policies.ts'
import type { Writes, ZoneChange } from '../queries.ts'
import { type EventLog, prepareEventLog } from './events.ts'
import { prepareMoveWriter } from './moves.ts'
import { openNamedQueries, type SqliteQueries } from './named-queries.ts'

/** What the next commit brings to light. */
export type WriteListener = {
  onEvents(): void
  onMoved(writes: Pick<MoveWrites, 'moved' | 'delayedIds'>): void
  onZones(changes: ZoneChange[]): void
}

export type SqliteWrites = Writes & SqliteQueries & { readonly log: EventLog }

export const nobody: WriteListener = {
  onEvents: () => undefined,
  onMoved: () => undefined,
  onZones: () => undefined,
}

export function openWrites(db: DatabaseSync, { onEvents, onMoved, onZones } = nobody): SqliteWrites {
  const queries = openNamedQueries(db)
  const policies = new Policies()
  const log = prepareEventLog(db, onEvents)
  const write = prepareMoveWriter(db, log)
  return {
    ...queries,
    log,
    readPolicies: (versions) => policies.read(queries, versions),
    send: (sql, values) => queries.statementOf(sql).run(values),
    sendRows: (sql, rows) => rows.forEach(queries.statementOf(sql).run),
    deviceChanged: log.deviceChanged,
    zonesChanged: onZones,
    accessChanged: log.accessChanged,
    runChanged: log.runChanged,
    loadExecutions: async (sql, values) => queries.listsOf(sql)(values).map(LIVE.readList),
    writeMoves(writes) {
      write(writes)
      if (writes.moved.length > 0) onMoved(writes)
    },
  }
}
