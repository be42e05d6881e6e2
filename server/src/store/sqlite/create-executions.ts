// Trigger calls: a group of small ones is one commit, and a large one is written like a large run.

import { actorOf } from '../../domain/access/caller.ts'
import type { Store } from '../../domain/common/ports/store.ts'
import { type Refusal, refuseUnknownWindow } from '../../domain/trigger/launch-run.ts'
import type { Trigger } from '../../domain/trigger/trigger.ts'
import type { Catalogue } from './catalogue.ts'
import type { ReaderThread, WriterThread } from './database-thread.ts'
import { batchSize } from './draft-writer.ts'
import { writeLargeRun } from './large-run.ts'
import { lookUpAhead } from './look-up-ahead.ts'
import { TriggerGroup } from './trigger-group.ts'
import { packTriggers } from './trigger-message.ts'
import type { LastIds, RecordedTrigger } from './triggers.ts'

/** From this number of devices on, a trigger is written in batches, and smaller ones do not wait for it. */
export const largeTrigger = 2 * batchSize

type Parts = {
  catalogue: Catalogue
  lastIds: LastIds
  writer: WriterThread
  reader: ReaderThread
  largeFrom?: number | undefined
}
type Recorded = (RecordedTrigger | Refusal)[] | 'all-created'

export function buildTriggerSteps({
  catalogue,
  lastIds,
  writer,
  reader,
  largeFrom = largeTrigger,
}: Parts): Pick<Store, 'createExecutions'> {
  async function recordLarge(group: TriggerGroup, trigger: Trigger): Promise<Recorded> {
    const [question] = group.questions
    if (question === undefined || !('runId' in question)) return recordSmall(group)
    const { clock } = trigger
    const refuse = () => refuseUnknownWindow(trigger, (...key) => catalogue.windows.has(...key))
    return [await writeLargeRun(writer, { ...question, clock, actor: actorOf(trigger) }, refuse)]
  }

  async function recordSmall({ questions }: TriggerGroup): Promise<Recorded> {
    if (questions.length === 0) return []
    const packed = packTriggers(questions)
    if (packed === undefined) return writer.call('recordTriggers', questions)
    return (await writer.call('recordPacked', packed)) ?? 'all-created'
  }

  return {
    async createExecutions(triggers) {
      const [first] = triggers
      const isLarge = triggers.length === 1 && first !== undefined && first.deviceIds.length >= largeFrom
      const ahead = isLarge ? await lookUpAhead(catalogue, first) : undefined
      const group = new TriggerGroup(catalogue, lastIds, triggers, ahead)
      let recorded: Recorded
      try {
        recorded = await (isLarge ? recordLarge(group, first) : recordSmall(group))
      } catch (error) {
        group.undoHold()
        throw error
      }
      return group.outcomes(recorded, (runId) => reader.call('getLaunchedRun', { runId }))
    },
  }
}
