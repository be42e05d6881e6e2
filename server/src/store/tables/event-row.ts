// The row of an event in both stores.

import { event } from '../schema/tables.ts'
import type { Written } from '../statement.ts'

const { eventId: _, ...fields } = event.fields
/** The store assigns the id. */
export const newEventFields = fields
type EventRow = Written<typeof newEventFields>

const none = {
  runId: null,
  jobExecutionId: null,
  deviceNo: null,
  from: null,
  cause: null,
  actor: null,
  attempt: null,
  versionNumber: null,
  details: null,
}

/** Missing fields are NULL. */
export function toEventRow(given: Omit<EventRow, keyof typeof none> & Partial<EventRow>): EventRow {
  return { ...none, ...given }
}
