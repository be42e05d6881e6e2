// Groups, schedules and other named resources as items of the command palette, with their actions.

import type { Run, Schedule } from '@jobcast/client'
import { jobcast } from '../api/client.ts'
import { refreshKeys } from '../api/refresh-keys.ts'
import { formatCount } from '../parts/exec-state.ts'
import { triggerHref } from '../parts/trigger-href.ts'
import type { Scope } from '../scopes.ts'
import { whereGroup } from '../selector/selector-text.ts'
import type { PaletteItem } from './palette-item.ts'
import type { Named } from './read-named.ts'

type Can = (scope: Scope) => boolean

export function namedItems(named: Named, can: Can): PaletteItem[] {
  const opened = (kind: string, path: string, names: string[]): PaletteItem[] =>
    names.map((name) => ({ name, kind, href: `${path}/${encodeURIComponent(name)}` }))
  return [
    ...named.groups.flatMap(({ groupName }) => groupItems(groupName, can)),
    ...named.schedules.flatMap((schedule) => scheduleItems(schedule, can)),
    ...opened(
      'window',
      '/windows',
      named.windows.map(({ windowName }) => windowName),
    ),
    ...opened(
      'webhook',
      '/webhooks',
      named.webhooks.map(({ webhookName }) => webhookName),
    ),
    ...opened(
      'file',
      '/files',
      named.files.map(({ fileName }) => fileName),
    ),
    ...named.secrets.map(({ secretName }) => ({ name: secretName, kind: 'secret', href: '/secrets' })),
    ...named.keys.map(({ keyName, keyId }) => ({ name: keyName, kind: 'key', href: '/keys', about: keyId })),
    ...named.runs.flatMap((run) => runItems(run, can)),
  ]
}

function groupItems(groupName: string, can: Can): PaletteItem[] {
  const item = { name: groupName, kind: 'group', href: `/groups/${encodeURIComponent(groupName)}` }
  if (!can('TRIGGER')) return [item]
  const href = triggerHref({ where: whereGroup(groupName) })
  return [item, { name: `Trigger a job on group ${groupName}`, kind: 'action', href }]
}

function scheduleItems({ scheduleName, paused, jobName }: Schedule, can: Can): PaletteItem[] {
  const href = `/schedules/${encodeURIComponent(scheduleName)}`
  const item = { name: scheduleName, kind: paused ? 'paused schedule' : 'schedule', href, about: jobName }
  if (!can('MANAGE')) return [item]
  const work = async () => {
    await jobcast.schedules[paused ? 'resume' : 'pause'](scheduleName)
    await refreshKeys(['schedule', scheduleName], ['schedules'])
  }
  return [item, { name: `${paused ? 'Resume' : 'Pause'} ${scheduleName}`, kind: 'action', href, work }]
}

function runItems({ runId, jobName, total, finished, rollout, note }: Run, can: Can): PaletteItem[] {
  const href = `/runs/${runId}`
  const devices = `${formatCount(total)} ${total === 1 ? 'device' : 'devices'}`
  const about = `${jobName} on ${devices}${note ? `: ${note}` : ''}`
  const item = { name: `Run ${runId}`, kind: finished ? 'finished run' : 'run', href, about }
  if (rollout?.state !== 'ROLLING_OUT' || !can('MANAGE')) return [item]
  const work = async () => {
    await jobcast.runs.pause(runId)
    await refreshKeys(['run', runId], ['runs'], ['approvals'])
  }
  return [item, { name: `Pause run ${runId}`, kind: 'action', href, about: jobName, work }]
}
