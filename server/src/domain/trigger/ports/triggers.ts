import type { SteadyInstant } from '../../common/instants.ts'
import type { Moment } from '../../execution/execution.ts'
import type { Moved } from '../../execution/ports/executions.ts'
import type { LargeTrigger, Trigger, TriggerOutcome } from '../trigger.ts'
import type { WriteOptions } from './write-options.ts'

export type TriggerStore = {
  /** All or nothing for each trigger of the list; one that is refused does not hinder the others. */
  createExecutions(triggers: Trigger[], options?: WriteOptions): Promise<TriggerOutcome[]>
  /**
   * All or nothing, written a batch at a time. Executions of devices that are deleted meanwhile have ended when the run
   * becomes visible, also of those that are put again.
   */
  createLargeRun(trigger: LargeTrigger): Promise<TriggerOutcome>
  /** Ends some executions that an earlier process has left to devices that are deleted; none: there are none left. */
  removeGone(gone: { moment: Moment; actor: string }): Promise<Moved[]>
  /** Purges some of them; true while there may be more. */
  purgeIdempotencyKeys(age: { olderThan: SteadyInstant }): Promise<boolean>
}
