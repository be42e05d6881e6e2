// A device with an agent, and its server: jobs are triggered as by an owner, handlers are files.

import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Api } from '@jobcast/testkit/call-api'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { type AgentOptions, type RunningAgent, startAgent } from '../../src/agent.ts'
import { readProcess } from '../../src/process/list-processes.ts'
import { webSocketAddress } from '../../src/transport/server-address.ts'
import { EventLog } from './event-log.ts'
import { type AgentSettings, type SpawnedAgents, spawnAgents } from './spawn-agents.ts'

type Ended = {
  jobName: string
  execState: string
  attempt: number
  statusDetails: Record<string, string>
  result: unknown
  outputCut: boolean
}

export type DeviceUnderTest = {
  deviceId: string
  token: string
  folder: string
  handlers: string
  log: EventLog
  /** All options of an agent on this device. */
  options(more?: Partial<AgentOptions>): AgentOptions
  start(more?: Partial<AgentOptions>): Promise<RunningAgent>
  /** The same in a separate process, which is killed after the test if it still runs. */
  spawn(more?: Partial<AgentSettings>): SpawnedAgents
  /** An executable file in the folder of handlers; a script of sh unless it says otherwise. */
  addHandler(name: string, script: string): string
  /** Gives the jobExecutionId. */
  trigger(document: object, policies?: object): Promise<number>
  ended(jobExecutionId: number): Promise<Ended>
  /** Triggers it and waits for its end. */
  run(document: object, policies?: object): Promise<Ended & { id: number }>
  output(jobExecutionId: number): Promise<Buffer>
  /** Follows the output until it matches. */
  untilOutput(jobExecutionId: number, pattern: RegExp): Promise<RegExpExecArray>
  /**
   * Triggers it with a time limit that ends it only after it has printed this. A busy machine may take longer to start a
   * handler than a limit of a second: then once more with a longer one.
   */
  triggerWithLimit(
    trigger: (timeoutSeconds: number) => Promise<number>,
    pattern: RegExp,
  ): Promise<{ id: number; match: RegExpExecArray }>
  /** For a program that runs the agent: when it exits unexpectedly, waits for executions fail with this message at once. */
  fail(message: string): void
  cancel(jobExecutionId: number, force?: boolean): Promise<void>
}

let lastDevice = 0

/** Above what a busy machine takes to end a process by SIGTERM. What is to be killed has a shorter one in its test. */
const longGraceMs = 30_000
const outputLimitsSeconds = [1, 4, 16, 64]

class NotPrinted extends Error {}

/** A zombie process counts as ended. */
export function isAlive(pid: number): boolean {
  const seen = readProcess(pid)
  return seen !== undefined && !seen.isZombie
}

export async function newDeviceUnderTest(t: TestContext, api: Api): Promise<DeviceUnderTest> {
  lastDevice++
  const deviceId = `agent-${lastDevice}`
  const jobName = `job-of-${deviceId}`
  await api.call('PUT', `/job/api/devices/${deviceId}`, { body: {} })
  const { deviceToken: token } = (await api.call('POST', `/job/api/devices/${deviceId}/credential`)).json
  const folder = newTemporaryFolder()
  const handlers = join(folder, 'handlers')
  mkdirSync(handlers, { mode: 0o755 })
  const log = new EventLog()
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  const agents: RunningAgent[] = []
  t.after(async () => {
    for (const agent of agents) await agent.stop()
    assert.deepEqual(log.of('fault'), [])
  })
  removeAfter(t, folder)

  const device: DeviceUnderTest = {
    deviceId,
    token,
    folder,
    handlers,
    log,
    options: (more = {}) => ({
      deviceId,
      server: { by: 'mqtt', url: webSocketAddress(api.http) },
      readToken: () => token,
      handlersFolder: handlers,
      stateFolder: join(folder, 'state'),
      allowCommands: false,
      graceMs: longGraceMs,
      backoff: { baseMs: 10, capMs: 100 },
      tell: log.tell,
      ...more,
    }),
    async start(more) {
      const agent = await startAgent(device.options(more))
      agents.push(agent)
      return agent
    },
    spawn(more = {}) {
      const { readToken: _, tell: __, environment: ___, ...options } = device.options()
      const spawned = spawnAgents([{ ...options, token, ...more }], device.fail)
      t.after(async () => {
        await spawned.end('SIGKILL')
        assert.equal(spawned.errors(), '')
      })
      return spawned
    },
    addHandler(name, script) {
      const path = join(handlers, name)
      writeFileSync(path, script.startsWith('#!') ? script : `#!/bin/sh\n${script}\n`)
      chmodSync(path, 0o755)
      return path
    },
    async trigger(document, policies = {}) {
      await api.call('PUT', `/job/api/jobs/${jobName}`, { body: { document, ...policies } })
      const reply = await api.trigger(jobName, [deviceId])
      assert.equal(reply.status, 201, reply.text)
      return reply.json[0].jobExecutionId
    },
    async ended(jobExecutionId) {
      const isOver = /^(SUCCEEDED|FAILED|REJECTED|TIMED_OUT|CANCELED|EXPIRED)$/
      for (;;) {
        const asked = api.call('GET', `/job/api/executions/${jobExecutionId}?wait=30`)
        const { json } = await Promise.race([asked, failed.promise])
        if (isOver.test(json.execState)) return json
      }
    },
    async run(document, policies) {
      const id = await device.trigger(document, policies)
      return { ...(await device.ended(id)), id }
    },
    async output(jobExecutionId) {
      const response = await fetch(`${api.http}/job/api/executions/${jobExecutionId}/output`, {
        headers: { 'x-api-key': api.adminKey },
      })
      return Buffer.from(await response.arrayBuffer())
    },
    async untilOutput(jobExecutionId, pattern) {
      const follow = async () => {
        const response = await fetch(`${api.http}/job/api/executions/${jobExecutionId}/output?follow=true`, {
          headers: { 'x-api-key': api.adminKey },
        })
        let text = ''
        for await (const chunk of response.body ?? []) {
          text += Buffer.from(chunk).toString()
          const match = pattern.exec(text)
          if (match) return match
        }
        throw new NotPrinted(`the output ended without ${pattern}: ${text}`)
      }
      return Promise.race([follow(), failed.promise])
    },
    async triggerWithLimit(trigger, pattern) {
      for (const timeoutSeconds of outputLimitsSeconds) {
        const id = await trigger(timeoutSeconds)
        try {
          return { id, match: await device.untilOutput(id, pattern) }
        } catch (error) {
          if (!(error instanceof NotPrinted)) throw error
          await device.ended(id)
        }
      }
      throw new NotPrinted(`not within ${outputLimitsSeconds.at(-1)} s: ${pattern}`)
    },
    fail: (message) => failed.reject(new Error(message)),
    async cancel(jobExecutionId, force = false) {
      const reply = await api.call('POST', `/job/api/executions/${jobExecutionId}/cancel`, {
        body: { force },
      })
      assert.equal(reply.status, 200, reply.text)
    },
  }
  return device
}
