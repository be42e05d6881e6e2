import type { Transition } from '@jobcast/client'
import { whoInWords } from '@jobcast/contract/words'

/** The actor of a transition, by name and not by ID. */
export function actorOf({ actor, actorName }: Transition): string {
  return whoInWords(actor, actorName)
}
