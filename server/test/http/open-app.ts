// The app on a real store but without a socket, so that a test can put a failing part into it.

import type { TestContext } from 'node:test'
import { createFirstKey } from '../../src/domain/api-key.ts'
import { ChangeSignal } from '../../src/domain/change-signal.ts'
import { HealthCheck } from '../../src/domain/health-check.ts'
import { KeyUse } from '../../src/domain/key-use.ts'
import { newSecretText } from '../../src/domain/secret-text.ts'
import { type AppDeps, buildApp } from '../../src/http/app.ts'
import type { App } from '../../src/http/app-type.ts'
import type { ServiceEvent } from '../../src/observe/events.ts'
import { buildMetrics } from '../../src/observe/metrics.ts'
import { openStore } from '../../src/store/open-store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

export type OpenApp = { app: App; adminKey: string; told: ServiceEvent[] }

export async function openApp(t: TestContext, parts: Partial<AppDeps> = {}): Promise<OpenApp> {
  const folder = temporaryFolder(t)
  const store = openStore(folder, (error) => {
    throw error
  })
  const told: ServiceEvent[] = []
  const deps: AppDeps = {
    store,
    now: Date.now,
    tell: (event) => told.push(event),
    metrics: buildMetrics(),
    keyUse: new KeyUse(store),
    changes: new ChangeSignal(),
    health: new HealthCheck(() => store.checkHealth()),
    stopping: new AbortController().signal,
    runningKeys: new Set(),
    recordTrigger: async (trigger) => {
      const [outcome] = await store.createExecutions([trigger])
      if (outcome === undefined) throw new Error('no outcome')
      return outcome
    },
    recordDevice: async (put) => {
      const [result] = await store.putDevices([put])
      if (result === undefined) throw new Error('no result')
      return result
    },
    ...parts,
  }
  const secret = newSecretText('jc')
  await createFirstKey({ store, now: Date.now }, secret)
  const app = await buildApp(deps, { version: '0', maxDevices: 10, tls: undefined })
  t.after(async () => {
    await app.close()
    await store.close()
  })
  return { app, adminKey: secret.text, told }
}
