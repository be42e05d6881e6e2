import type { WallInstant } from '../../common/instants.ts'
import type { EventFilter, StoredEvent } from '../event.ts'

export type EventStore = {
  /**
   * Of the events behind `after`, oldest first, up to `limit` that pass the filter. Looks at some thousand at most:
   * all up to `upTo` were looked at, and there may be `more` behind it. Those up to `purgedUpTo` are purged.
   */
  listEvents(list: {
    ownerNo: number
    filter: EventFilter
    slice: { after: number; limit: number }
  }): Promise<{ events: StoredEvent[]; upTo: number; more: boolean; purgedUpTo: number }>
  getEvent(event: { ownerNo: number; eventId: number }): Promise<StoredEvent | undefined>
  /** The id of the owner's newest event, and up to which events are purged; 0 if there is none. */
  getEventBounds(owner: { ownerNo: number }): Promise<{ newest: number; purgedUpTo: number }>
  /** The id of the owner's last event before an instant; 0 if there is none. */
  findEventBefore(instant: { ownerNo: number; at: number }): Promise<number>
  /** The listener is called when there are new events, once for many. */
  onEvents(listener: () => void): void
  /**
   * Purges some of them, up to the first that is not older: one that is dated wrongly takes no newer ones with it. One
   * dated after `now` counts for nothing. True while there may be more.
   */
  purgeEvents(age: { olderThan: WallInstant; now: WallInstant }): Promise<boolean>
}
