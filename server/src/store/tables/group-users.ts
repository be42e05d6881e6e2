// Direct users of a group, which would be invalid without it: other groups, the rollouts of jobs, schedules, and the gates of
// unfinished rollouts. Users of other groups that contain it are not included.

import type { Rollout } from '@jobcast/contract'
import { parseSelector } from '@jobcast/contract/selector'
import { namedUsers } from '../../domain/common/in-use.ts'
import { isFinal, type RolloutPlan } from '../../domain/rollout/rollout.ts'
import type { StoredScheduleContent } from '../../domain/schedule/ports/schedules.ts'
import type { GroupKey, GroupUsers } from '../../domain/selector/ports/groups.ts'
import { groupsOf } from '../../domain/selector/replace-groups.ts'
import { inBoth, type Queries } from '../queries.ts'
import { json, rows, select, text } from '../schema/column.ts'
import { deviceGroup, rollout, schedule } from '../schema/tables.ts'

// Only the parser finds the groups in a selector; selectors without the keyword have none.
const namesSome = <Column extends string>(column: Column) => `lower(${column}) LIKE '%group%'` as const

const GROUP = select(deviceGroup.pick('groupName', 'where'))
const GROUPS = `
  SELECT ${GROUP} FROM device_group WHERE owner_no = :ownerNo AND ${namesSome('where_text')}
  ORDER BY group_name` as const
const JOB = rows({ jobName: text(), rollout: json<Rollout>() })
const JOBS = inBoth(({ is }) => {
  const ofContent = `${is === 'sqlite' ? 'content' : 'CAST(content AS json)'} ->> 'rollout'`
  return `
  SELECT job_name AS "jobName", ${ofContent} AS rollout
  FROM job JOIN job_version ON job_version.version_no = job.version_no
  WHERE owner_no = :ownerNo AND deleted_at IS NULL AND ${namesSome(ofContent)} ORDER BY job_name` as const
})
const SCHEDULE = select(schedule.pick('scheduleName', 'content'))
const SCHEDULES = `
  SELECT ${SCHEDULE} FROM schedule WHERE owner_no = :ownerNo AND ${namesSome('content')}
  ORDER BY schedule_name` as const
const ROLLOUT = select(rollout.pick('runId', 'state', 'plan'))
const ROLLOUTS = inBoth(
  ({ is, by }) => `
  SELECT ${ROLLOUT} FROM rollout ${by('rollout_open')}
  WHERE ${is === 'sqlite' ? 'is_open = 1' : 'is_open'} AND owner_no = :ownerNo AND ${namesSome('plan')}
  ORDER BY run_id`,
)

/** Some users of each kind; undefined: the group is not used. */
export async function findGroupUsers(
  queries: Queries,
  { ownerNo, groupName }: GroupKey,
): Promise<GroupUsers | undefined> {
  const refers = (where: string | undefined) =>
    where !== undefined && groupsOf(parseSelector(where)).includes(groupName)
  const groups = await queries.all(GROUP, GROUPS, { ownerNo })
  const jobs = await queries.all(JOB, JOBS, { ownerNo })
  const schedules = await queries.all(SCHEDULE, SCHEDULES, { ownerNo })
  const rollouts = await queries.all(ROLLOUT, ROLLOUTS, { ownerNo })
  const users = {
    groupNames: groups.filter(({ where }) => refers(where)).map((each) => each.groupName),
    jobNames: jobs.filter((each) => wheresOf(each.rollout).some(refers)).map(({ jobName }) => jobName),
    scheduleNames: schedules
      .filter(({ content }) => namesOf(content).includes(groupName) || wheresIn(content).some(refers))
      .map(({ scheduleName }) => scheduleName),
    runIds: rollouts
      .filter((each) => !isFinal(each) && gateOf(each.plan).some(refers))
      .map(({ runId }) => runId),
  }
  if (Object.values(users).every(({ length }) => length === 0)) return undefined
  return {
    groupNames: users.groupNames.slice(0, namedUsers + 1),
    jobNames: users.jobNames.slice(0, namedUsers + 1),
    scheduleNames: users.scheduleNames.slice(0, namedUsers + 1),
    runIds: users.runIds.slice(0, namedUsers + 1),
  }
}

function namesOf({ targets }: StoredScheduleContent): string[] {
  return targets.group === undefined ? [] : [targets.group]
}

function wheresIn({ targets, rollout }: StoredScheduleContent): (string | undefined)[] {
  return [targets.where, ...(rollout ? wheresOf(rollout) : [])]
}

function wheresOf({ next, waves = [] }: Rollout): (string | undefined)[] {
  return [next?.where, ...waves.map(({ where }) => where)]
}

/** The devices of waves are fixed, but those of the gate are counted repeatedly. */
function gateOf({ rollout: { next } }: RolloutPlan): (string | undefined)[] {
  return [next?.where]
}
