// Finds the users of a group, which would be refused without it.

import type { Group, Job, Schedule } from '@jobcast/client'
import { parseSelector, SelectorError, termsOf } from '@jobcast/contract/selector'

export type GroupUser = { kind: string; name: string; href: string }

type Sources = { groups: readonly Group[]; jobs: readonly Job[]; schedules: readonly Schedule[] }

export function findUsers(groupName: string, { groups, jobs, schedules }: Sources): GroupUser[] {
  const names = (where: string | undefined) => where !== undefined && refersTo(where, groupName)
  return [
    ...groups.filter(({ where }) => names(where)).map((group) => user('group', 'groups', group.groupName)),
    ...jobs
      .filter(
        ({ rollout }) => names(rollout?.next?.where) || rollout?.waves?.some(({ where }) => names(where)),
      )
      .map(({ jobName }) => user('job', 'jobs', jobName)),
    ...schedules
      .filter(({ targets }) => targets.group === groupName || names(targets.where))
      .map(({ scheduleName }) => user('schedule', 'schedules', scheduleName)),
  ]
}

function user(kind: string, folder: string, name: string): GroupUser {
  return { kind, name, href: `/${folder}/${encodeURIComponent(name)}` }
}

function refersTo(where: string, groupName: string): boolean {
  try {
    return termsOf(parseSelector(where)).some((term) => term.kind === 'group' && term.groupName === groupName)
  } catch (error) {
    if (error instanceof SelectorError) return false
    throw error
  }
}
