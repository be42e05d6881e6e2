// The parent's side of a fleet: as many processes as the devices need, addressed as one.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { endProcess, startProcess } from '../processes.ts'
import type { Answer, Credential, FleetReply, Order, OrderName } from './fleet-orders.ts'
import { mostConnections } from './process-use.ts'

const program = fileURLToPath(new URL('fleet.ts', import.meta.url))
const devicesPerProcess = Math.min(10_000, mostConnections())
const answerWithinMs = 300_000

export type Fleet = {
  /** Returns the responses of all its processes. */
  ask<Name extends OrderName>(name: Name, order: Order<Name>): Promise<Answer<Name>[]>
  end(): Promise<void>
}

type FleetPlace = { port: number; speaksMqtt?: boolean; keepAliveSeconds?: number }

export async function openFleet(devices: Credential[], place: FleetPlace): Promise<Fleet> {
  const parts: Credential[][] = []
  for (let start = 0; start < devices.length; start += devicesPerProcess) {
    parts.push(devices.slice(start, start + devicesPerProcess))
  }
  const children = parts.map(() =>
    startProcess(process.execPath, [program], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
  )
  const { port, speaksMqtt = true, keepAliveSeconds = 600 } = place
  await Promise.all(
    children.map((child, index) =>
      ask(child, 'connect', { devices: parts[index] ?? [], port, speaksMqtt, keepAliveSeconds }),
    ),
  )
  return {
    ask: (name, order) => Promise.all(children.map((child) => ask(child, name, order))),
    async end() {
      await Promise.all(children.map((child) => endProcess(child)))
    },
  }
}

async function ask<Name extends OrderName>(
  child: ChildProcess,
  name: Name,
  order: Order<Name>,
): Promise<Answer<Name>> {
  child.send({ name, order })
  const [reply] = await once(child, 'message', { signal: AbortSignal.timeout(answerWithinMs) })
  if ('error' in (reply as FleetReply)) throw new Error(`the fleet could not ${name}: ${reply.error}`)
  return reply.answer
}
