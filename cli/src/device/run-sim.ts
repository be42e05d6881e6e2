// Runs simulated devices until a signal, with a periodic status line on standard error.

import { Agent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import {
  type CallApi,
  createDevices,
  type Fleet,
  type FleetEvent,
  registerDevices,
  startDdiFleet,
  startFleet,
  type TellFleet,
} from '@jobcast/sim'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import type { Io } from '../io.ts'
import { clockTime } from '../output/clock-time.ts'
import { callServer } from '../service/call-server.ts'
import { runUntilSignal } from '../signals/run-until-signal.ts'
import { SimFlagError, type SimFlags, type SimOptions, simOptionsOf } from './sim-options.ts'

const statusEveryMs = 15_000
const registerAtOnce = 32

export async function runSim(io: Io, flags: SimFlags): Promise<ExitCode> {
  // There is nothing to stop until the devices have started.
  let stop: () => Promise<void> = async () => undefined
  const ended = runUntilSignal(io, () => stop())
  try {
    const options = simOptionsOf(flags)
    const say = (text: string) => {
      if (!options.quiet) io.stderr.write(`${clockTime()}  ${text}\n`)
    }
    const start = await Promise.race([register(options, say), ended])
    if (typeof start === 'number') return start
    const trouble = new ConnectTrouble()
    const fleet = start(trouble.tell)
    const status = () => say(statusLine(fleet, trouble, options))
    const timer = setInterval(status, statusEveryMs)
    stop = () => {
      clearInterval(timer)
      return fleet.stop()
    }
    void fleet.whenUp().then(status)
    return await ended
  } catch (error) {
    io.stderr.write(`${explain(error)}\n`)
    return error instanceof SimFlagError ? exitCode.usage : exitCode.unexpected
  }
}

type Start = (tell: TellFleet) => Fleet

async function register(options: SimOptions, say: (text: string) => void): Promise<Start> {
  const { server: address, apiKey, deviceIds } = options
  const keep = { keepAlive: true, maxSockets: registerAtOnce }
  const agent = address.startsWith('https:') ? new HttpsAgent(keep) : new Agent(keep)
  try {
    const call: CallApi = (method, path, { body } = {}) =>
      callServer({ address, apiKey, agent }, method, path, body)
    const start = await registered(options, call)
    const { protocol, mqtt, seed } = options
    const where = protocol === 'ddi' ? `poll ${address}` : `connect to ${mqtt}`
    say(`${deviceIds.at(0)} to ${deviceIds.at(-1)} are registered and ${where} (seed ${seed})`)
    return start
  } finally {
    agent.destroy()
  }
}

async function registered(options: SimOptions, call: CallApi): Promise<Start> {
  const { deviceIds, broker, protocol } = options
  if (broker !== undefined) {
    await createDevices(call, deviceIds, registerAtOnce)
    const { userName, password: deviceToken } = broker
    const devices = deviceIds.map((deviceId) => ({ deviceId, userName, deviceToken }))
    return (tell) => startFleet({ ...options, broker, devices, tell })
  }
  const devices = await registerDevices(call, deviceIds, registerAtOnce)
  return (tell) =>
    protocol === 'ddi'
      ? startDdiFleet({ ...options, devices, tell })
      : startFleet({ ...options, broker, devices, tell })
}

/** Why devices cannot connect; shown with the status once, not once per device. */
class ConnectTrouble {
  #reason = ''

  readonly tell = (event: FleetEvent): void => {
    if (event.kind === 'connect-failed') this.#reason = event.reason
  }

  take(): string {
    const reason = this.#reason
    this.#reason = ''
    return reason
  }
}

function statusLine(fleet: Fleet, trouble: ConnectTrouble, { broker }: SimOptions): string {
  const { devices, online, working, refused, ended } = fleet.counts()
  const reason = trouble.take()
  const why = broker ? 'by the broker' : 'because their tokens were replaced'
  const parts = [
    `${online} of ${devices} online`,
    `${working} working`,
    `${ended.SUCCEEDED} SUCCEEDED`,
    `${ended.FAILED} FAILED`,
    ...(ended.REJECTED > 0 ? [`${ended.REJECTED} REJECTED`] : []),
    ...(ended.CANCELED > 0 ? [`${ended.CANCELED} CANCELED`] : []),
    ...(refused > 0 ? [`${refused} rejected ${why}`] : []),
    ...(reason !== '' ? [`some could not connect: ${reason}`] : []),
  ]
  return parts.join(', ')
}

/** Omits the stack for problems that the user can fix: flags, the key, the address. */
function explain(error: unknown): string {
  if (error instanceof SimFlagError) {
    return [
      'jobcast: the simulation cannot start:',
      ...error.problems.map((problem) => `  - ${problem}`),
    ].join('\n')
  }
  const { name, message, stack, code } = error as NodeJS.ErrnoException
  const isExpected = name === 'RegisterRefused' || code !== undefined
  // A host name with several addresses gives an AggregateError, which has no message.
  return `jobcast: the simulation cannot start: ${isExpected ? message || code : stack}`
}
