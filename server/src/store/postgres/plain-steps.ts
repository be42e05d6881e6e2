// The steps over plain tables on PostgreSQL, and what they need here that they do not on SQLite.

import type { Store } from '../../domain/store.ts'
import { findApiKeys } from '../tables/api-keys.ts'
import { enrollDevice, findEnrollment } from '../tables/enrollments.ts'
import { listOwnerNos, purgeEventsOfOwner } from '../tables/events.ts'
import { bind } from '../tables/step.ts'
import { catalogueWrites, reads, snapshots, writes } from '../tables/steps.ts'
import type { Catalogue } from './catalogue.ts'
import type { Database } from './database.ts'
import { putDevices } from './device-puts.ts'
import { GroupedLookup } from './grouped-lookup.ts'

export function bindPlainSteps(db: Database, catalogue: Catalogue) {
  return {
    ...bind(reads, (step) => step(db.named)),
    ...bind(snapshots, (step) => db.inSnapshot(({ named }) => step(named))),
    ...bind(writes, (step) => db.inTransaction(({ named }) => step(named))),
    ...bind(catalogueWrites, (step, { ownerNo }) => catalogue.change([ownerNo], ({ named }) => step(named))),
    ...buildKeyLookup(db),
    ...buildEnrollmentSteps(db, catalogue),
    ...buildEventPurge(db),
  }
}

/** Each call of the API asks for a key. */
function buildKeyLookup(db: Database): Pick<Store, 'findApiKey'> {
  const keys = new GroupedLookup(async (keyIds) => {
    const found = await findApiKeys(db.named, keyIds)
    return new Map(found.map((key) => [key.keyId, key]))
  })
  return { findApiKey: ({ keyId }) => keys.find(keyId) }
}

function buildEnrollmentSteps(db: Database, catalogue: Catalogue): Pick<Store, 'enrollDevice'> {
  return {
    async enrollDevice(enrolling) {
      // Whose it is never changes; all else is read again under the locks.
      const enrollment = await findEnrollment(db.named, enrolling)
      if (enrollment === undefined) return { kind: 'not-open' }
      return catalogue.change([enrollment.ownerNo], (transaction) =>
        enrollDevice(transaction.named, enrolling, (put) => putDevices(transaction, [put])),
      )
    },
  }
}

/** A batch of each owner, in a transaction of its own. */
function buildEventPurge(db: Database): Pick<Store, 'purgeEvents'> {
  return {
    async purgeEvents({ olderThan }) {
      let more = false
      for (const ownerNo of await listOwnerNos(db.named)) {
        const purge = { ownerNo, olderThan }
        if (await db.inTransaction(({ named }) => purgeEventsOfOwner(named, purge))) more = true
      }
      return more
    },
  }
}
