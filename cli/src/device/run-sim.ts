// Runs simulated devices until a signal, with a status line now and then on standard error.

import { Agent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { type Fleet, type FleetEvent, registerDevices, startDdiFleet, startFleet } from '@jobcast/sim'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import type { Io } from '../io.ts'
import { clockTime } from '../output/clock-time.ts'
import { callServer } from '../service/call-server.ts'
import { runUntilSignal } from '../signals/run-until-signal.ts'
import { SimFlagError, type SimFlags, type SimOptions, simOptionsOf } from './sim-options.ts'

const statusEveryMs = 15_000
const registerAtOnce = 32

export async function runSim(io: Io, flags: SimFlags): Promise<ExitCode> {
  // Nothing to stop until the devices have started.
  let stop: () => Promise<void> = async () => undefined
  const ended = runUntilSignal(io, () => stop())
  try {
    const options = simOptionsOf(flags)
    const say = (text: string) => {
      if (!options.quiet) io.stderr.write(`${clockTime()}  ${text}\n`)
    }
    const devices = await Promise.race([register(options, say), ended])
    if (!Array.isArray(devices)) return devices
    const trouble = new ConnectTrouble()
    const given = { ...options, devices, tell: trouble.tell }
    const fleet = options.protocol === 'ddi' ? startDdiFleet(given) : startFleet(given)
    const timer = setInterval(() => say(statusLine(fleet, trouble)), statusEveryMs)
    stop = () => {
      clearInterval(timer)
      return fleet.stop()
    }
    void fleet.whenUp().then(() => say(statusLine(fleet, trouble)))
    return await ended
  } catch (error) {
    io.stderr.write(`${explain(error)}\n`)
    return error instanceof SimFlagError ? exitCode.usage : exitCode.unexpected
  }
}

async function register(options: SimOptions, say: (text: string) => void) {
  const { server: address, apiKey, deviceIds, seed, mqtt, protocol } = options
  const keep = { keepAlive: true, maxSockets: registerAtOnce }
  const agent = address.startsWith('https:') ? new HttpsAgent(keep) : new Agent(keep)
  try {
    const devices = await registerDevices(
      (method, path, { body } = {}) => callServer({ address, apiKey, agent }, method, path, body),
      deviceIds,
      registerAtOnce,
    )
    const [first, last] = [deviceIds.at(0), deviceIds.at(-1)]
    say(
      `${first} to ${last} are registered and ${protocol === 'ddi' ? `poll ${address}` : `connect to ${mqtt}`} (seed ${seed})`,
    )
    return devices
  } finally {
    agent.destroy()
  }
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

function statusLine(fleet: Fleet, trouble: ConnectTrouble): string {
  const { devices, online, working, refused, ended } = fleet.counts()
  const reason = trouble.take()
  const parts = [
    `${online} of ${devices} online`,
    `${working} working`,
    `${ended.SUCCEEDED} SUCCEEDED`,
    `${ended.FAILED} FAILED`,
    ...(ended.REJECTED > 0 ? [`${ended.REJECTED} REJECTED`] : []),
    ...(ended.CANCELED > 0 ? [`${ended.CANCELED} CANCELED`] : []),
    ...(refused > 0 ? [`${refused} rejected because their tokens were replaced`] : []),
    ...(reason !== '' ? [`some could not connect: ${reason}`] : []),
  ]
  return parts.join(', ')
}

/** Without a stack for what the user can fix: flags, the key, the address. */
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
