import type { Transition } from '@jobcast/client'
import { whoInWords } from '@jobcast/contract/words'

/** Who did something, as people know it: by name, not by ID. */
export function actorOf({ actor, actorName }: Transition): string {
  return whoInWords(actor, actorName)
}
