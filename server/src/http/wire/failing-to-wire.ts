import { type Failing, toInstant } from '@jobcast/contract'
import type { Failing as FoundFailing } from '../../domain/common/ports/failing-tasks.ts'

export function toFailing(found: FoundFailing | null): Failing | null {
  return found && { since: toInstant(found.since), times: found.times, message: found.message }
}
