import type { Transition } from '@jobcast/client'

/** Who did something, as people know it: the name of the key, not its ID. */
export function actorOf({ actor, actorName }: Transition): string {
  return actorName === null ? actor : `key “${actorName}”`
}
