// What the steps of the writer ask with, inside its transactions.

import type { DatabaseSync } from 'node:sqlite'
import type { MoveWrites } from '../../domain/execution/move-batch.ts'
import { LIVE } from '../live-executions.ts'
import { Policies } from '../policies.ts'
import type { Sql, Values, Writes, ZoneChange } from '../queries.ts'
import { type EventLog, prepareEventLog } from './events.ts'
import { prepareMoveWriter } from './moves.ts'
import { openNamedQueries, type SqliteQueries, type Statement } from './named-queries.ts'

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
  const ask: (sql: Sql) => Statement = queries.statementOf
  return {
    ...queries,
    log,
    readPolicies: (versions) => policies.read(queries, versions),
    send(sql: Sql, values: Values = {}) {
      ask(sql).run(values)
    },
    sendRows(sql: Sql, rows: readonly Values[]) {
      const { run } = ask(sql)
      for (const row of rows) run(row)
    },
    deviceChanged: log.deviceChanged,
    zonesChanged: onZones,
    resourceChanged: log.resourceChanged,
    runChanged: log.runChanged,
    loadExecutions: async (sql: Sql, values: Values = {}) => queries.listsOf(sql)(values).map(LIVE.readList),
    writeMoves(writes) {
      write(writes)
      if (writes.moved.length > 0) onMoved(writes)
    },
  }
}
