// Schedules as shown to callers: with the names of the keys that updated and paused them, with failing writes, and without
// values that have become secret.

import { maskSecrets, type ParameterValues, secretNames } from '@jobcast/contract/parameters'
import type { Caller } from '../access/caller.ts'
import { type KeyNames, readKeyNames } from '../access/key-names.ts'
import { principalOf } from '../access/principal.ts'
import type { Failing } from '../common/ports/failing-tasks.ts'
import type { Store } from '../common/ports/store.ts'
import { readFailing } from '../common/read-failing.ts'
import type { Moment } from '../execution/execution.ts'
import type { StoredSchedule } from './ports/schedules.ts'

type ViewScheduleDeps = {
  store: Pick<Store, 'findApiKey' | 'findEnrollment' | 'getJob' | 'listFailing'>
  moment: () => Moment
}
export type ScheduleView = { schedule: StoredSchedule; keyNames: KeyNames; failing: Failing | null }

export async function viewSchedules(
  deps: ViewScheduleDeps,
  { ownerNo }: Pick<Caller, 'ownerNo'>,
  schedules: StoredSchedule[],
): Promise<ScheduleView[]> {
  const principals = schedules.flatMap((each) => [principalOf(each), each.pausedBy])
  const keyNames = await readKeyNames(deps.store, ownerNo, deps.moment().at, principals)
  const numbers = schedules.map(({ scheduleNo }) => scheduleNo)
  const failing = await readFailing(deps, 'schedule', numbers)
  const views: ScheduleView[] = []
  for (const each of schedules) {
    const schedule = await withoutSecrets(deps, each)
    views.push({ schedule, keyNames, failing: failing.get(each.scheduleNo) ?? null })
  }
  return views
}

/**
 * Secret parameters are refused when a schedule is put; but if it runs the current version each time, a later version may
 * declare one of its parameters as secret.
 */
async function withoutSecrets(
  { store }: ViewScheduleDeps,
  schedule: StoredSchedule,
): Promise<StoredSchedule> {
  const { ownerNo, jobName, content } = schedule
  const { parameters, version } = content
  if (parameters === undefined || version !== null) return schedule
  const job = await store.getJob({ ownerNo, jobName })
  if (secretNames(job?.parameters).length === 0) return schedule
  const masked = maskSecrets(job?.parameters, parameters as ParameterValues)
  return { ...schedule, content: { ...content, parameters: masked } }
}
