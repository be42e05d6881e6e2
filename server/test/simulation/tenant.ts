// One owner of a simulation: its keys, devices and followers, and everything that was sent for it or seen by it.

import type { JobcastEvent, Scope } from '@jobcast/contract'
import type { Random } from '@jobcast/testkit/seeded-random'
import type { Caller } from '../../src/domain/access/caller.ts'
import type { DeviceKey } from '../../src/domain/device/device-key.ts'
import { isSentByDefault } from '../history/check-events.ts'
import type { DeviceStep, RecordedCall, WebhookPost } from '../history/history.ts'

export type CallerKey = { caller: Caller; apiKey: string }

/** Who reads the events of its owner: what it has seen, and up to which event. */
type Follower = { readonly seen: JobcastEvent[]; readonly upTo: number }
type Device = { readonly device: DeviceKey; disturb?(): void }

/** What its callers use besides triggers; the more of it, the longer a simulation takes. */
type Features = {
  rollouts: boolean
  schedules: boolean
  windows: boolean
  largeRuns: boolean
  secrets: boolean
  webhook: boolean
}

export class Tenant {
  readonly ownerNo: number
  readonly name: string
  readonly keys: CallerKey[]
  readonly deviceIds: string[]
  readonly features: Features
  readonly calls: RecordedCall[] = []
  readonly steps: DeviceStep[] = []
  readonly posts: WebhookPost[] = []
  /** Documents as devices were handed them, by execution. */
  readonly documents = new Map<number, unknown>()
  /** Runs whose rate was changed. */
  readonly patched = new Set<number>()
  /** By run: the secret that it was given. */
  readonly secrets = new Map<number, string>()
  /** All that were sent, also those of calls without an answer. */
  readonly sentSecrets: string[] = []
  /** The webhook receives what comes after this event. */
  webhookAfter = Number.POSITIVE_INFINITY
  devices: Device[] = []
  followers: Follower[] = []

  constructor(made: Pick<Tenant, 'ownerNo' | 'name' | 'keys' | 'deviceIds' | 'features'>) {
    this.ownerNo = made.ownerNo
    this.name = made.name
    this.keys = made.keys
    this.deviceIds = made.deviceIds
    this.features = made.features
  }

  /** Everybody who reads these events has them. */
  hasSeen(events: { eventId: number; type: string }[]): boolean {
    const newest = events.at(-1)?.eventId ?? 0
    if (!this.followers.every(({ upTo }) => upTo >= newest)) return false
    const accepted = new Set(this.posts.map(({ event, accepted }) => accepted && event.eventId))
    return events.every(
      ({ eventId, type }) => eventId <= this.webhookAfter || !isSentByDefault(type) || accepted.has(eventId),
    )
  }
}

export const tenantScopes: Scope[] = ['TRIGGER', 'READ', 'MANAGE']

export function pickFeatures(random: Random): Features {
  return {
    rollouts: random.chance(0.5),
    schedules: random.chance(0.3),
    windows: random.chance(0.2),
    largeRuns: random.chance(0.4),
    secrets: random.chance(0.3),
    webhook: random.chance(0.4),
  }
}
