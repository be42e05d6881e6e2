// The steps over plain tables on PostgreSQL, with the locks and caches that SQLite does not need.

import { GroupedLookup } from '../../domain/common/grouped-lookup.ts'
import type { Store } from '../../domain/common/ports/store.ts'
import type { DevicePut } from '../../domain/device/ports/devices.ts'
import { RunCursors } from '../../domain/execution/apply-clocks.ts'
import type { WriteOptions } from '../../domain/trigger/ports/write-options.ts'
import { originIn } from '../audit-log.ts'
import { clockWrites } from '../tables/clocks.ts'
import { putDevices } from '../tables/device-puts.ts'
import { hasSelector, listSelected, selectionSnapshots } from '../tables/device-selection.ts'
import { deviceReads } from '../tables/devices.ts'
import { enrollDevice, findEnrollment } from '../tables/enrollments.ts'
import { type ExecutionList, goesThroughRuns, listExecutions } from '../tables/execution-list.ts'
import { runFailureSnapshots } from '../tables/run-failures.ts'
import { runsWithinSnapshots } from '../tables/runs-within.ts'
import { bind, type Input } from '../tables/step.ts'
import { catalogueWrites, reads, snapshots, writes } from '../tables/steps.ts'
import { countUnfinished } from '../tables/unfinished-count.ts'
import type { CachedKeys } from './cached-keys.ts'
import type { Catalogue } from './catalogue.ts'
import type { Database } from './database.ts'
import type { Transaction } from './transaction.ts'

export function bindPlainSteps(db: Database, catalogue: Catalogue, keys: CachedKeys) {
  return {
    ...bind(reads, (step) => step(db.named)),
    ...bind(snapshots, (step) => db.inSnapshot(({ named }) => step(named))),
    ...bind(writes, (step, input) => db.inTransaction(from(input, step))),
    ...bind(catalogueWrites, (step, input) => catalogue.change([input.ownerNo], from(input, step))),
    ...buildKeyLookup(db, keys),
    ...buildEnrollmentSteps(db, catalogue),
    listExecutions: (list: ExecutionList) =>
      goesThroughRuns(list.filter)
        ? db.inSnapshot(({ named }) => listExecutions(named, list))
        : listExecutions(db.named, list),
    ...bind(selectionSnapshots, (step) => db.inSelection(({ named }) => step(named))),
    ...bind(runFailureSnapshots, (step) => db.inSelection(({ named }) => step(named))),
    ...bind(runsWithinSnapshots, (step) => db.inSelection(({ named }) => step(named))),
    countUnfinished: ({ devices, ...of }: Input<'countUnfinished'>) => {
      const deviceNos = devices.map(({ deviceNo }) => deviceNo)
      return db.inSelection(({ named }) => countUnfinished(named, { ...of, deviceNos }))
    },
    listDevices(list: Input<'listDevices'>) {
      if (!hasSelector(list)) return deviceReads.listDevices(db.named, list)
      return db.inSelection(({ named }) => listSelected(named, list))
    },
    async putDevices(puts: DevicePut[], options?: WriteOptions) {
      const owners = puts.map(({ ownerNo }) => ownerNo)
      const done = await catalogue.change(owners, ({ named }) => putDevices(named, puts), options)
      return done.map(({ deviceNo: _, ...put }) => put)
    },
    ...bind(clockWrites(new RunCursors()), (step) => db.inTransaction(({ named }) => step(named))),
  }
}

/** Runs the step, with the caller for the audit entries of its transaction. */
function from<T>(input: unknown, step: (queries: Transaction['named']) => Promise<T>) {
  return (transaction: Transaction) => {
    transaction.audit.origin = originIn(input)
    return step(transaction.named)
  }
}

/** Each call of the API looks up a key, except triggers whose key is cached. */
function buildKeyLookup(db: Database, keys: CachedKeys): Pick<Store, 'findApiKey'> {
  const lookup = new GroupedLookup((keyIds) => keys.find(db.named, keyIds))
  return { findApiKey: ({ keyId }) => lookup.find(keyId) }
}

function buildEnrollmentSteps(db: Database, catalogue: Catalogue): Pick<Store, 'enrollDevice'> {
  return {
    async enrollDevice(enrolling) {
      // Only its owner is used, which never changes; everything else is read again under the locks.
      const enrollment = await findEnrollment(db.named, enrolling)
      if (enrollment === undefined) return { kind: 'not-open' }
      return catalogue.change([enrollment.ownerNo], ({ named }) =>
        enrollDevice(named, enrolling, (put) => putDevices(named, [put])),
      )
    },
  }
}
