import type { SteadyInstant } from '../../common/instants.ts'
import type { Moment } from '../../execution/execution.ts'
import type { Moved } from '../../execution/ports/executions.ts'
import type { LargeTrigger, Trigger, TriggerOutcome } from '../trigger.ts'
import type { WriteOptions } from './write-options.ts'

export type TriggerStore = {
  /** All or nothing for each trigger of the list; a refused trigger does not affect the others. */
  createExecutions(triggers: Trigger[], options?: WriteOptions): Promise<TriggerOutcome[]>
  /**
   * All or nothing, written in batches. Executions of devices that are deleted meanwhile have ended when the run becomes
   * visible, even if the devices were put again.
   */
  createLargeRun(trigger: LargeTrigger): Promise<TriggerOutcome>
  /** Ends a batch of executions that an earlier process left on deleted devices; empty: none are left. */
  removeGone(gone: { moment: Moment; actor: string }): Promise<Moved[]>
  /** Purges a batch; true while there may be more. */
  purgeIdempotencyKeys(age: { olderThan: SteadyInstant }): Promise<boolean>
}
