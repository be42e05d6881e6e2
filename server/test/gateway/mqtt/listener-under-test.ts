// The MQTT listener on a loopback port. Its backend is a few functions here, so that a test decides when a report is
// on disk and what the outcome is.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { noQuotas } from '../../../src/domain/access/quotas.ts'
import { hashSecret, newSecretText } from '../../../src/domain/access/secret-text.ts'
import { steadyInstant } from '../../../src/domain/common/instants.ts'
import type { Store } from '../../../src/domain/common/ports/store.ts'
import type { DeviceKey } from '../../../src/domain/device/device-key.ts'
import type {
  DeviceSession,
  DeviceSessions,
  SeenQueue,
} from '../../../src/domain/device/ports/device-link.ts'
import type { AttributeReport } from '../../../src/domain/device/ports/devices.ts'
import type {
  DeviceExecution,
  DeviceQueue,
  DeviceReport,
  ReportOutcome,
} from '../../../src/domain/execution/device-report.ts'
import { ListenerTls, type TlsSettings } from '../../../src/gateway/certificates/listener-tls.ts'
import {
  type MqttListenerDeps,
  type MqttListenerOptions,
  openMqttListener,
} from '../../../src/gateway/mqtt/open-mqtt-listener.ts'
import { RateLimits, unlimited } from '../../../src/limits/rate-limits.ts'
import type { ServiceEvent } from '../../../src/observe/events.ts'
import { ChangeSignal } from '../../../src/state/change-signal.ts'
import { Documents } from '../../../src/state/documents.ts'
import { SecretBox } from '../../../src/state/secret-box.ts'
import { SecretMasks } from '../../../src/state/secret-masks.ts'

export const deviceId = 'd1'
export const prefix = `$aws/things/${deviceId}/jobs/`
export const document = '{"do":"it"}'
const noValues = {
  getDocument: async () => ({ document }),
  getRunValues: async () => undefined,
  listDeviceValues: async () => [],
  getSignature: async () => undefined,
  findSecrets: async () => [],
  findFiles: async () => [],
}

const noLinks = {
  factsFor(): never {
    throw new Error('there are no files')
  },
  objectUrl(): never {
    throw new Error('there are no objects')
  },
}

export type ListenerUnderTest = Awaited<ReturnType<typeof openListener>>

type ListenerOptions = Partial<Omit<MqttListenerOptions, 'tls'>> & { tls?: TlsSettings }

export async function openListener(t: TestContext, { tls: settings, ...options }: ListenerOptions = {}) {
  const backend = new Backend()
  const tls = settings && new ListenerTls(settings, backend.deps.tell)
  const http = createServer().listen(0, '127.0.0.1')
  await once(http, 'listening')
  const listener = await openMqttListener(backend.deps, {
    host: '127.0.0.1',
    port: 0,
    tls,
    http,
    isTrustedProxy: undefined,
    ...options,
  })
  t.after(async () => {
    await listener.stop()
    tls?.stop()
    // Only once every upgraded connection is gone.
    await new Promise((resolve) => http.close(resolve))
  })
  return {
    backend,
    address: listener.address,
    stop: () => listener.stop(),
    port: Number(new URL(listener.address).port),
    http,
    httpPort: (http.address() as AddressInfo).port,
  }
}

export function execution(jobExecutionId: number, more: Partial<DeviceExecution> = {}): DeviceExecution {
  return {
    jobExecutionId,
    execState: 'PENDING',
    attempt: 1,
    versionNumber: 1,
    statusDetails: {},
    launchedAt: 1_000_000,
    startedAt: null,
    updatedAt: 1_000_000,
    timesOutAt: null,
    notified: false,
    runId: 1,
    jobVersion: 1,
    priority: 5,
    ...more,
  }
}

export function queueOf(...ids: number[]): DeviceQueue {
  return { mark: 1, total: ids.length, executions: ids.map((id) => execution(id)) }
}

export class Backend {
  readonly token = newSecretText('jd')
  readonly events: ServiceEvent[] = []
  readonly sessions = new SessionsUnderTest()
  /** Milliseconds on the steady clock. */
  clock = 0
  queue = queueOf()
  reports: DeviceReport[] = []
  attributeReports: AttributeReport[] = []
  recordReport: (report: DeviceReport) => Promise<ReportOutcome> = async ({ kind }) => ({
    kind: kind === 'start-next' ? 'nothing-pending' : 'unknown-execution',
  })
  findDevice: () => Promise<DeviceKey | undefined> = async () => ({ ownerNo: 1, deviceId })
  certificates: string[][] = []
  readonly #waiting: { matches: (event: ServiceEvent) => boolean; resolve: (event: ServiceEvent) => void }[] =
    []

  readonly deps: MqttListenerDeps = {
    store: this.#store(),
    recordReport: (report) => {
      this.reports.push(report)
      return this.recordReport(report)
    },
    recordAttributes: async (report) => {
      this.attributeReports.push(report)
      return { kind: 'recorded' }
    },
    moment: () => ({
      at: 1_700_000_000_000 + this.clock,
      clock: steadyInstant(this.clock),
      chance: 0,
      cancelDeadlineMs: 1000,
    }),
    link: { wake() {}, launched() {}, released() {}, withdraw() {}, disconnect() {} },
    changes: new ChangeSignal(),
    outputs: new ChangeSignal(),
    documents: new Documents(noValues, new SecretBox([]), noLinks),
    masks: new SecretMasks(
      this.#store(),
      new Documents(noValues, new SecretBox([]), noLinks),
      new SecretBox([]),
    ),
    maxOutputBytes: 1000,
    dailyOutput: { take: () => true },
    quotas: noQuotas,
    credentialChanges: { count: 0 },
    sessions: this.sessions,
    limits: new RateLimits(unlimited, () => this.clock),
    tell: (event) => this.#tell(event),
  }

  get session(): DeviceSession {
    const session = this.sessions.current.get(deviceId)
    if (session === undefined) throw new Error('no session is open')
    return session
  }

  /** The first event of this kind that fits, told already or to be told. */
  event<K extends ServiceEvent['kind']>(
    kind: K,
    fits: (event: ServiceEvent & { kind: K }) => boolean = () => true,
  ): Promise<ServiceEvent & { kind: K }> {
    const matches = (event: ServiceEvent): event is ServiceEvent & { kind: K } =>
      event.kind === kind && fits(event as ServiceEvent & { kind: K })
    const told = this.events.find(matches)
    if (told) return Promise.resolve(told)
    return new Promise((resolve) => {
      this.#waiting.push({ matches, resolve: resolve as (event: ServiceEvent) => void })
    })
  }

  #tell(event: ServiceEvent): void {
    this.events.push(event)
    for (const { matches, resolve } of this.#waiting) if (matches(event)) resolve(event)
  }

  #store(): Store {
    const store: Partial<Store> = {
      findDeviceByToken: async ({ tokenId }) => {
        const device = await this.findDevice()
        if (device === undefined || tokenId !== this.token.id) return undefined
        return { ...device, tokenHash: hashSecret(this.token.text) }
      },
      findDeviceByCertificate: async ({ ownerName, deviceId }) => {
        this.certificates.push([ownerName, deviceId])
        return this.findDevice()
      },
      readQueues: async () => [this.queue],
      getDeviceExecution: async (asked) =>
        this.queue.executions.find(({ jobExecutionId }) => jobExecutionId === asked.jobExecutionId),
    }
    return store as Store
  }
}

/** Records calls, and closes the previous session like the real implementation. */
class SessionsUnderTest implements DeviceSessions {
  readonly current = new Map<string, DeviceSession>()
  readonly calls: string[] = []
  readonly confirmed: number[] = []
  readonly seen: SeenQueue[] = []
  onRefresh: (session: DeviceSession) => void = () => undefined

  open(session: DeviceSession): void {
    this.calls.push('open')
    const before = this.current.get(session.device.deviceId)
    this.current.set(session.device.deviceId, session)
    before?.close('taken-over')
  }

  leave(session: DeviceSession): void {
    this.calls.push('leave')
    const { deviceId } = session.device
    if (this.current.get(deviceId) === session) this.current.delete(deviceId)
  }

  greet(): void {
    this.calls.push('greet')
  }

  answered(_session: DeviceSession, seen: SeenQueue): void {
    this.seen.push(seen)
  }

  refresh(session: DeviceSession): void {
    this.calls.push('refresh')
    this.onRefresh(session)
  }

  delivered(jobExecutionIds: readonly number[]): void {
    this.confirmed.push(...jobExecutionIds)
  }
}
