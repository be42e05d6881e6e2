// The table of screens. To add one: write screens/<name>.tsx with a component as its default export, name it here; its
// path must begin with one of the pages in server/src/http/pages/console.ts.

import { matchPath, type Params } from './match-path.ts'
import type { Route } from './route.ts'

export const routes: Route[] = [
  {
    name: 'fleet',
    path: '/',
    title: 'Fleet',
    scopes: ['READ'],
    load: () => import('./screens/fleet.tsx'),
    nav: { icon: 'fleet', key: 'f', group: 'operate' },
  },
  {
    name: 'trigger',
    path: '/trigger',
    title: 'Trigger',
    scopes: ['TRIGGER'],
    load: () => import('./screens/trigger.tsx'),
    nav: { icon: 'trigger', key: 't', group: 'operate' },
  },
  {
    name: 'runs',
    path: '/runs',
    title: 'Runs',
    scopes: ['READ'],
    load: () => import('./screens/runs.tsx'),
    nav: { icon: 'runs', key: 'r', group: 'operate' },
  },
  {
    name: 'run',
    path: '/runs/:runId',
    title: 'Run',
    scopes: ['READ'],
    load: () => import('./screens/run.tsx'),
  },
  {
    name: 'approvals',
    path: '/approvals',
    title: 'Approvals',
    scopes: ['APPROVE'],
    load: () => import('./screens/approvals.tsx'),
    nav: { icon: 'good', key: 'a', group: 'operate' },
  },
  {
    name: 'calendar',
    path: '/calendar',
    title: 'Calendar',
    scopes: ['READ'],
    load: () => import('./screens/calendar.tsx'),
    nav: { icon: 'calendar', key: 'c', group: 'operate' },
  },
  {
    name: 'executions',
    path: '/executions',
    title: 'Executions',
    scopes: ['READ'],
    load: () => import('./screens/executions.tsx'),
    nav: { icon: 'executions', key: 'e', group: 'operate' },
  },
  {
    name: 'execution',
    path: '/executions/:jobExecutionId',
    title: 'Execution',
    scopes: ['READ'],
    load: () => import('./screens/execution.tsx'),
  },
  {
    name: 'stats',
    path: '/stats',
    title: 'Statistics',
    scopes: ['READ'],
    load: () => import('./screens/stats.tsx'),
    nav: { icon: 'stats', key: 's', group: 'operate' },
  },
  {
    name: 'devices',
    path: '/devices',
    title: 'Devices',
    scopes: ['READ'],
    load: () => import('./screens/devices.tsx'),
    nav: { icon: 'devices', key: 'd', group: 'operate' },
  },
  {
    name: 'device',
    path: '/devices/:deviceId',
    title: 'Device',
    scopes: ['READ'],
    load: () => import('./screens/device.tsx'),
  },
  {
    name: 'groups',
    path: '/groups',
    title: 'Groups',
    scopes: ['READ'],
    load: () => import('./screens/groups.tsx'),
    nav: { icon: 'groups', key: 'g', group: 'set up' },
  },
  {
    name: 'group',
    path: '/groups/:groupName',
    title: 'Group',
    scopes: ['READ'],
    load: () => import('./screens/group.tsx'),
  },
  {
    name: 'jobs',
    path: '/jobs',
    title: 'Jobs',
    scopes: ['READ'],
    load: () => import('./screens/jobs.tsx'),
    nav: { icon: 'jobs', key: 'j', group: 'set up' },
  },
  {
    name: 'job',
    path: '/jobs/:jobName',
    title: 'Job',
    scopes: ['READ'],
    load: () => import('./screens/job.tsx'),
  },
  {
    name: 'versions',
    path: '/jobs/:jobName/versions',
    title: 'Versions',
    scopes: ['READ'],
    load: () => import('./screens/versions.tsx'),
  },
  {
    name: 'schedules',
    path: '/schedules',
    title: 'Schedules',
    scopes: ['READ'],
    load: () => import('./screens/schedules.tsx'),
    nav: { icon: 'schedules', key: 'h', group: 'set up' },
  },
  {
    name: 'schedule',
    path: '/schedules/:scheduleName',
    title: 'Schedule',
    scopes: ['READ'],
    load: () => import('./screens/schedule.tsx'),
  },
  {
    name: 'secrets',
    path: '/secrets',
    title: 'Secrets',
    scopes: ['READ'],
    load: () => import('./screens/secrets.tsx'),
    nav: { icon: 'keys', key: 'z', group: 'set up' },
  },
  {
    name: 'windows',
    path: '/windows',
    title: 'Windows',
    scopes: ['READ'],
    load: () => import('./screens/windows.tsx'),
    nav: { icon: 'windows', key: 'm', group: 'set up' },
  },
  {
    name: 'window',
    path: '/windows/:windowName',
    title: 'Window',
    scopes: ['READ'],
    load: () => import('./screens/window.tsx'),
  },
  {
    name: 'webhooks',
    path: '/webhooks',
    title: 'Webhooks',
    scopes: ['READ'],
    load: () => import('./screens/webhooks.tsx'),
    nav: { icon: 'webhooks', key: 'w', group: 'set up' },
  },
  {
    name: 'webhook',
    path: '/webhooks/:webhookName',
    title: 'Webhook',
    scopes: ['READ'],
    load: () => import('./screens/webhook.tsx'),
  },
  {
    name: 'enrollments',
    path: '/enrollments',
    title: 'Enrollments',
    scopes: ['READ'],
    load: () => import('./screens/enrollments.tsx'),
    nav: { icon: 'enrollments', key: 'n', group: 'set up' },
  },
  {
    name: 'keys',
    path: '/keys',
    title: 'Keys',
    scopes: ['READ', 'MANAGE', 'ADMIN'],
    load: () => import('./screens/keys.tsx'),
    nav: { icon: 'keys', key: 'k', group: 'set up' },
  },
  {
    name: 'sessions',
    path: '/keys/sessions',
    title: 'Sessions',
    scopes: ['MANAGE', 'ADMIN'],
    load: () => import('./screens/sessions.tsx'),
  },
]

export function findRoute(pathname: string): { route: Route; params: Params } | undefined {
  for (const route of routes) {
    const params = matchPath(route.path, pathname)
    if (params) return { route, params }
  }
  return undefined
}
