// What the command palette finds: screens, actions, jobs, devices, and runs and executions by their number.

import type { FleetDevice, Job } from '@jobcast/client'
import { fuzzyFilter } from '../parts/fuzzy-match.ts'
import type { SavedView } from '../parts/saved-views.tsx'
import { triggerHref } from '../parts/trigger-href.ts'
import type { Route } from '../route.ts'
import type { Scope } from '../scopes.ts'

export type PaletteItem = { name: string; kind: string; href: string }

type Sources = {
  routes: readonly Route[]
  jobs: readonly Job[]
  devices: readonly FleetDevice[]
  views: readonly SavedView[]
  can: (scope: Scope) => boolean
}

const shownAtMost = 30

export function findItems(text: string, sources: Sources): PaletteItem[] {
  const wanted = text.trim()
  const found = fuzzyFilter(wanted, namedItems(sources, wanted !== ''), ({ name }) => name)
  return [...numberedItems(wanted, sources.can), ...found.map(({ item }) => item)].slice(0, shownAtMost)
}

/** Jobs and devices only once something is typed: there can be thousands. */
function namedItems({ routes, jobs, devices, views, can }: Sources, hasText: boolean): PaletteItem[] {
  const screens = routes.flatMap(({ nav, title, path, scopes }) =>
    nav && scopes.some(can) ? [{ name: title, kind: 'screen', href: path }] : [],
  )
  const saved = views.map(({ name, href }) => ({ name, kind: 'view', href }))
  if (!hasText) return [...screens, ...saved]
  return [
    ...screens,
    ...saved,
    ...jobs.flatMap(({ jobName }) => [
      { name: jobName, kind: 'job', href: `/jobs/${encodeURIComponent(jobName)}` },
      ...(can('TRIGGER')
        ? [{ name: `Trigger ${jobName}`, kind: 'action', href: triggerHref({ jobName }) }]
        : []),
    ]),
    ...devices.map(({ deviceId }) => ({
      name: deviceId,
      kind: 'device',
      href: `/devices/${encodeURIComponent(deviceId)}`,
    })),
  ]
}

function numberedItems(wanted: string, can: (scope: Scope) => boolean): PaletteItem[] {
  const [, number] = /^#?(\d{1,15})$/.exec(wanted) ?? []
  if (number === undefined || !can('READ')) return []
  return [
    { name: `Run ${number}`, kind: 'run', href: `/runs/${number}` },
    { name: `Execution ${number}`, kind: 'execution', href: `/executions/${number}` },
  ]
}
