import type { WallInstant } from '../../common/instants.ts'
import type { EventFilter, StoredEvent } from '../event.ts'

export type EventStore = {
  /**
   * Lists events after `after` that pass the filter, oldest first, up to `limit`. Scans a few thousand at most: all up to
   * `upTo` were scanned, and there may be `more` after it. Events up to `purgedUpTo` are purged.
   */
  listEvents(list: {
    ownerNo: number
    filter: EventFilter
    slice: { after: number; limit: number }
  }): Promise<{ events: StoredEvent[]; upTo: number; more: boolean; purgedUpTo: number }>
  getEvent(event: { ownerNo: number; eventId: number }): Promise<StoredEvent | undefined>
  /** The ids of the owner's newest event and of the last purged one; 0 if there is none. */
  getEventBounds(owner: { ownerNo: number }): Promise<{ newest: number; purgedUpTo: number }>
  /** The id of the owner's last event before an instant; 0 if there is none. */
  findEventBefore(instant: { ownerNo: number; at: number }): Promise<number>
  /** Calls the listener when there are new events, once per batch. */
  onEvents(listener: () => void): void
  /**
   * Purges a batch, up to the first event that is not older, so an event with a wrong date does not affect newer ones. Events
   * dated after `now` are ignored. True while there may be more.
   */
  purgeEvents(age: { olderThan: WallInstant; now: WallInstant }): Promise<boolean>
}
