// An event as both stores write it.

import { event } from '../schema/tables.ts'
import type { Written } from '../statement.ts'

const { eventId: _, ...fields } = event.fields
/** Its id is given by the store. */
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

/** What is left out is NULL. */
export function toEventRow(given: Omit<EventRow, keyof typeof none> & Partial<EventRow>): EventRow {
  return { ...none, ...given }
}
