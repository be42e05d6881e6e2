// All resources with a description, in the order of the OpenAPI document.

import { devices } from './devices.ts'
import { groups } from './groups.ts'
import { jobs } from './jobs.ts'
import { schedules } from './schedules.ts'
import { secrets } from './secrets.ts'
import { webhooks } from './webhooks.ts'
import { windows } from './windows.ts'

export * from './devices.ts'
export * from './groups.ts'
export * from './jobs.ts'
export * from './resource.ts'
export * from './schedules.ts'
export * from './secrets.ts'
export * from './webhooks.ts'
export * from './windows.ts'

export const resources = { webhooks, jobs, devices, groups, schedules, secrets, windows } as const
export type ResourceName = keyof typeof resources
