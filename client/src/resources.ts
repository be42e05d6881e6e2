// Written by `npm run generate` from the descriptions of resources; do not edit.

import type { ErrorCode } from './error-codes.ts'
import type {
  CreatedWebhook,
  Device,
  DeviceContent,
  Group,
  GroupContent,
  Job,
  JobContent,
  ListDevicesQuery,
  ListGroupsQuery,
  ListJobsQuery,
  ListSchedulesQuery,
  ListSecretsQuery,
  ListWebhooksQuery,
  ListWindowsQuery,
  Schedule,
  ScheduleContent,
  Secret,
  SecretContent,
  Webhook,
  WebhookContent,
  Window,
  WindowContent,
} from './schemas.ts'

export type ResourceName = keyof ResourceTypes
type ResourceFacts = {
  noun: string
  /** The field that names it. */
  key: string
  /** What can be put. */
  fields: readonly string[]
  notFound: ErrorCode
  /** The field that is generated unless it is given, and is never shown again. */
  shownOnce?: string
}

/** What is put, got, listed and deleted by its name. */
export const resources: Readonly<Record<ResourceName, ResourceFacts>> = {
  webhooks: {
    noun: 'webhook',
    key: 'webhookName',
    fields: ['url', 'eventTypes', 'jobName', 'deviceId', 'format', 'secret'],
    notFound: 'J-307',
    shownOnce: 'secret',
  },
  jobs: {
    noun: 'job',
    key: 'jobName',
    fields: [
      'description',
      'document',
      'parameters',
      'expireAfterSeconds',
      'timeoutSeconds',
      'deadlineSeconds',
      'retry',
      'rollout',
      'approval',
      'window',
      'priority',
      'signatures',
    ],
    notFound: 'J-301',
  },
  devices: {
    noun: 'device',
    key: 'deviceId',
    fields: ['deviceName', 'tags', 'attributes', 'timeZone', 'window'],
    notFound: 'J-001',
  },
  groups: { noun: 'group', key: 'groupName', fields: ['where', 'description', 'window'], notFound: 'J-309' },
  schedules: {
    noun: 'schedule',
    key: 'scheduleName',
    fields: [
      'jobName',
      'targets',
      'when',
      'version',
      'parameters',
      'description',
      'rollout',
      'approval',
      'window',
      'replaces',
      'priority',
      'overlap',
      'catchUpSeconds',
      'jitterSeconds',
      'pauseAfterFailures',
      'except',
      'until',
    ],
    notFound: 'J-310',
  },
  secrets: { noun: 'secret', key: 'secretName', fields: ['value'], notFound: 'J-318' },
  windows: {
    noun: 'window',
    key: 'windowName',
    fields: ['cron', 'durationMinutes', 'timeZone', 'cutoffMinutes', 'except'],
    notFound: 'J-311',
  },
}

export type ResourceTypes = {
  webhooks: { content: WebhookContent; view: Webhook; created: CreatedWebhook; query: ListWebhooksQuery }
  jobs: { content: JobContent; view: Job; created: Job; query: ListJobsQuery }
  devices: { content: DeviceContent; view: Device; created: Device; query: ListDevicesQuery }
  groups: { content: GroupContent; view: Group; created: Group; query: ListGroupsQuery }
  schedules: { content: ScheduleContent; view: Schedule; created: Schedule; query: ListSchedulesQuery }
  secrets: { content: SecretContent; view: Secret; created: Secret; query: ListSecretsQuery }
  windows: { content: WindowContent; view: Window; created: Window; query: ListWindowsQuery }
}
