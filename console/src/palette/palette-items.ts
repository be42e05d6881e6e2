// The items of the command palette for a text: screens, saved views, everything that has a name or a number, and actions
// on these.

import type { FleetDevice, Job } from '@jobcast/client'
import { fuzzyFilter } from '../parts/fuzzy-match.ts'
import type { SavedView } from '../parts/saved-views.tsx'
import { triggerHref } from '../parts/trigger-href.ts'
import type { Route } from '../route.ts'
import type { Scope } from '../scopes.ts'
import { readSelector } from '../selector/selector-text.ts'
import { namedItems } from './named-items.ts'
import type { PaletteItem } from './palette-item.ts'
import type { Named } from './read-named.ts'

type Sources = {
  routes: readonly Route[]
  jobs: readonly Job[]
  /** The devices on the map of the fleet. */
  devices: readonly FleetDevice[]
  /** The devices found by the server. */
  found: readonly { deviceId: string; deviceName: string | null }[]
  named: Named | undefined
  views: readonly SavedView[]
  can: (scope: Scope) => boolean
}

const shownAtMost = 30

export function findItems(text: string, sources: Sources): PaletteItem[] {
  const wanted = text.trim()
  const found = fuzzyFilter(wanted, everything(sources, wanted !== ''), textOf).map(({ item }) => item)
  return [...numberedItems(wanted, sources.can), ...selectorItems(wanted, sources.can), ...found].slice(
    0,
    shownAtMost,
  )
}

function textOf({ name, about = '' }: PaletteItem): string {
  return about === '' ? name : `${name} ${about}`
}

/** Kinds with many items are only included if there is a text. */
function everything(sources: Sources, hasText: boolean): PaletteItem[] {
  const { routes, views, can } = sources
  const screens = routes.flatMap(({ nav, title, path, scopes }) =>
    nav && scopes.some(can) ? [{ name: title, kind: 'screen', href: path }] : [],
  )
  const saved = views.map(({ name, href }) => ({ name, kind: 'view', href }))
  if (!hasText) return [...screens, ...saved]
  return [
    ...screens,
    ...saved,
    ...generalActions(can),
    ...sources.jobs.flatMap(({ jobName }) => jobItems(jobName, can)),
    ...deviceItems(sources),
    ...(sources.named ? namedItems(sources.named, can) : []),
  ]
}

function generalActions(can: (scope: Scope) => boolean): PaletteItem[] {
  return [
    ...(can('READ') ? [{ name: 'Wall mode', kind: 'action', href: '/?wall=on' }] : []),
    ...(can('MANAGE')
      ? [
          { name: 'New job', kind: 'action', href: '/jobs?new' },
          { name: 'New schedule', kind: 'action', href: '/schedules?new' },
        ]
      : []),
  ]
}

function jobItems(jobName: string, can: (scope: Scope) => boolean): PaletteItem[] {
  const href = `/jobs/${encodeURIComponent(jobName)}`
  const item = { name: jobName, kind: 'job', href }
  if (!can('TRIGGER')) return [item]
  return [item, { name: `Trigger ${jobName}`, kind: 'action', href: triggerHref({ jobName }) }]
}

function deviceItems({ devices, found, can }: Sources): PaletteItem[] {
  const hrefOf = (deviceId: string) => `/devices/${encodeURIComponent(deviceId)}`
  const ids = new Set(found.map(({ deviceId }) => deviceId))
  return [
    ...found.flatMap(({ deviceId, deviceName }) => [
      {
        name: deviceId,
        kind: 'device',
        href: hrefOf(deviceId),
        about: deviceName === deviceId ? undefined : (deviceName ?? undefined),
      },
      ...(can('TRIGGER')
        ? [
            {
              name: `Trigger a job on ${deviceId}`,
              kind: 'action',
              href: triggerHref({ deviceIds: [deviceId] }),
            },
          ]
        : []),
    ]),
    ...devices.flatMap(({ deviceId }) =>
      ids.has(deviceId) ? [] : [{ name: deviceId, kind: 'device', href: hrefOf(deviceId) }],
    ),
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

/** Items for a selector with more than a word: "fw<2.10 and tag=berlin". */
function selectorItems(wanted: string, can: (scope: Scope) => boolean): PaletteItem[] {
  if (!/[=<>~]/.test(wanted) || readSelector(wanted).kind !== 'where') return []
  return [
    ...(can('READ')
      ? [
          {
            name: `Devices that match ${wanted}`,
            kind: 'devices',
            href: `/devices?where=${encodeURIComponent(wanted)}`,
          },
        ]
      : []),
    ...(can('TRIGGER')
      ? [
          {
            name: `Trigger a job on devices that match ${wanted}`,
            kind: 'action',
            href: triggerHref({ where: wanted }),
          },
        ]
      : []),
  ]
}
