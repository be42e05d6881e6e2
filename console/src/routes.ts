// The table of screens. To add one: write screens/<name>.tsx with a component as its default export, name it here; its
// path must begin with one of the pages in server/src/http/console.ts.

import type { ComponentType } from 'preact'
import { matchPath, type Params } from './match-path.ts'
import type { IconName } from './parts/icon.tsx'
import type { Scope } from './scopes.ts'

export type ScreenProps = { route: Route; params: Params }
type Screen = { default: ComponentType<ScreenProps> }

export type Route = {
  name: string
  path: string
  title: string
  load: () => Promise<Screen>
  /** In the navigation, in this order; `key` is what is pressed after `g`. */
  nav?: { icon: IconName; key: string; scope: Scope; group: 'operate' | 'set up' }
}

export const routes: Route[] = [
  {
    name: 'fleet',
    path: '/',
    title: 'Fleet',
    load: () => import('./screens/fleet.tsx'),
    nav: { icon: 'fleet', key: 'f', scope: 'READ', group: 'operate' },
  },
  {
    name: 'trigger',
    path: '/trigger',
    title: 'Trigger',
    load: () => import('./screens/trigger.tsx'),
    nav: { icon: 'trigger', key: 't', scope: 'TRIGGER', group: 'operate' },
  },
  {
    name: 'runs',
    path: '/runs',
    title: 'Runs',
    load: () => import('./screens/runs.tsx'),
    nav: { icon: 'runs', key: 'r', scope: 'READ', group: 'operate' },
  },
  { name: 'run', path: '/runs/:runId', title: 'Run', load: () => import('./screens/run.tsx') },
  {
    name: 'executions',
    path: '/executions',
    title: 'Executions',
    load: () => import('./screens/executions.tsx'),
    nav: { icon: 'executions', key: 'e', scope: 'READ', group: 'operate' },
  },
  {
    name: 'execution',
    path: '/executions/:jobExecutionId',
    title: 'Execution',
    load: () => import('./screens/execution.tsx'),
  },
  {
    name: 'devices',
    path: '/devices',
    title: 'Devices',
    load: () => import('./screens/devices.tsx'),
    nav: { icon: 'devices', key: 'd', scope: 'READ', group: 'operate' },
  },
  {
    name: 'device',
    path: '/devices/:deviceId',
    title: 'Device',
    load: () => import('./screens/device.tsx'),
  },
  {
    name: 'jobs',
    path: '/jobs',
    title: 'Jobs',
    load: () => import('./screens/jobs.tsx'),
    nav: { icon: 'jobs', key: 'j', scope: 'READ', group: 'set up' },
  },
  { name: 'job', path: '/jobs/:jobName', title: 'Job', load: () => import('./screens/job.tsx') },
  {
    name: 'webhooks',
    path: '/webhooks',
    title: 'Webhooks',
    load: () => import('./screens/webhooks.tsx'),
    nav: { icon: 'webhooks', key: 'w', scope: 'READ', group: 'set up' },
  },
  {
    name: 'webhook',
    path: '/webhooks/:webhookName',
    title: 'Webhook',
    load: () => import('./screens/webhook.tsx'),
  },
  {
    name: 'enrollments',
    path: '/enrollments',
    title: 'Enrollments',
    load: () => import('./screens/enrollments.tsx'),
    nav: { icon: 'enrollments', key: 'n', scope: 'READ', group: 'set up' },
  },
  {
    name: 'keys',
    path: '/keys',
    title: 'Keys',
    load: () => import('./screens/keys.tsx'),
    nav: { icon: 'keys', key: 'k', scope: 'READ', group: 'set up' },
  },
]

export function findRoute(pathname: string): { route: Route; params: Params } | undefined {
  for (const route of routes) {
    const params = matchPath(route.path, pathname)
    if (params) return { route, params }
  }
  return undefined
}
